#include "heed/train/optimise/schedule.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/kernels/exact_math.h"

namespace heed::optimise {

float learning_rate(const ScheduleOptions& o, int64_t step) {
  const auto at = static_cast<double>(step), warmup = static_cast<double>(std::max<int64_t>(o.warmup, 1));
  if (step < o.warmup) return static_cast<float>(o.peak * at / warmup);
  if (o.kind == "constant") return o.peak;
  if (o.kind == "inverse_sqrt") return static_cast<float>(o.peak * std::sqrt(warmup / std::max(at, 1.0)));
  expect(o.kind == "cosine", "schedule: expected constant, inverse_sqrt or cosine, not '{}'", o.kind);
  const double rest = static_cast<double>(std::max<int64_t>(o.steps - o.warmup, 1));
  const double done = std::min((at - static_cast<double>(o.warmup)) / rest, 1.0);
  return static_cast<float>(o.floor + (o.peak - o.floor) * 0.5 * (1.0 + exact::cos_turns(0.5 * done)));
}

}  // namespace heed::optimise
