#include <algorithm>
#include <limits>
#include <vector>

#include "heed/kernels/attention.h"
#include "heed/kernels/exact_math.h"
#include "heed/kernels/loop/sequence.h"
#include "heed/kernels/no_memory.h"

namespace heed::kernels {

namespace {

// out = sum_p e^(lse_p - lse) out_p,   lse = log sum_p e^lse_p
Status run_merge(const Problem& p, const Partial* parts, int64_t count, View out, float* lse) {
  Status status;
  if (count < 0) status.refuse("merge: count must be at least 0, got " + std::to_string(count));
  if (count > 0 && !parts) status.refuse("merge: parts is null");
  if (!out.data) status.refuse("merge: out is null");
  for (int64_t n = 0; parts && n < count; ++n)
    if (!parts[n].out.data || !parts[n].lse)
      status.refuse("merge: part " + std::to_string(n) + " has no out or no lse");
  if (p.shape.batch < 0 || p.shape.heads < 0 || p.shape.queries < 0 || p.shape.value_dim < 0)
    status.refuse("merge: shape must not be negative");
  if (!status) return status;
  if (!parts) count = 0;

  constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
  std::vector<double> share(static_cast<size_t>(count));
  for (int64_t b = 0; b < p.shape.batch; ++b) {
    const Sequence s = sequence(p, b);
    for (int64_t h = 0; h < p.shape.heads; ++h)
      for (int64_t i = 0; i < s.queries; ++i) {
        const int64_t row = row_index(p, b, h, i);
        float most = kMinusInfinity;
        for (int64_t n = 0; n < count; ++n) most = std::max(most, parts[n].lse[row]);
        double sum = 0.0;
        for (int64_t n = 0; n < count; ++n) {
          share[n] = most > kMinusInfinity ? exact::exp(static_cast<double>(parts[n].lse[row]) - most) : 0.0;
          sum += share[n];
        }
        const MutableRows target = query_rows(p, out, s, b, h);
        for (int64_t c = 0; c < p.shape.value_dim; ++c) {
          double value = 0.0;
          for (int64_t n = 0; n < count; ++n)  // an empty part may hold anything
            if (share[n] > 0.0) value += share[n] / sum * *query_rows(p, parts[n].out, s, b, h).at(i, c);
          *target.at(i, c) = static_cast<float>(value);
        }
        if (lse) lse[row] = sum > 0.0 ? most + static_cast<float>(exact::log(sum)) : kMinusInfinity;
      }
  }
  return status;
}

}  // namespace

Status merge(const Problem& p, const Partial* parts, int64_t count, View out, float* lse) {
  return without_throwing([&] { return run_merge(p, parts, count, out, lse); });
}

}  // namespace heed::kernels
