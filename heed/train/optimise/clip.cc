#include "heed/train/optimise/clip.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/tensor/gradient.h"
#include "heed/tensor/parallel.h"

namespace heed::optimise {

double gradient_norm(const Parameters& parameters) {
  double sum = 0.0;
  for (const Parameter& p : parameters)
    if (p.has_gradient)
      sum += sum_in_order(p.size(), [g = p.gradient.data()](int64_t i) { return static_cast<double>(g[i]) * g[i]; });
  return std::sqrt(sum);
}

double clip_gradients(Parameters& parameters, double limit) {
  expect(limit > 0.0, "clip_gradients: the limit must be positive, not {}", limit);
  const double norm = gradient_norm(parameters);
  if (!std::isfinite(norm) || norm <= limit) return norm;
  const auto factor = static_cast<float>(limit / norm);
  for (Parameter& p : parameters)
    if (p.has_gradient)
      for_pieces(p.size(), 1, [g = p.gradient.data(), factor](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) g[i] *= factor;
      });
  return norm;
}

}  // namespace heed::optimise
