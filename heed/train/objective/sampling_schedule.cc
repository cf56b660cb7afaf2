#include "heed/train/objective/sampling_schedule.h"

#include <algorithm>

#include "heed/kernels/exact_math.h"

namespace heed::objective {

namespace {

/// k with k log k = n / 2, by halving.
double steepness(double n) {
  double low = 1.0, high = std::max(n, 8.0);  // 8 log 8 > 8 / 2, and for a larger n, n log n > n / 2
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (middle * exact::log(middle) < n / 2 ? low : high) = middle;
  }
  return low;
}

}  // namespace

double own_token_probability(const Options& o, int64_t updates_before) {
  const auto n = static_cast<double>(o.sampling_steps), t = static_cast<double>(updates_before);
  switch (value_of(kGrowths, o.sampling_schedule)) {
    case Growth::linear:
      return o.sampling_most * std::min(1.0, t / n);
    case Growth::exponential:
      return o.sampling_most * (1.0 - exact::power(0.1, t / n));
    case Growth::inverse_sigmoid: {
      const double k = steepness(n);
      return o.sampling_most * (1.0 - k / (k + exact::exp(std::min(t / k, 700.0))));
    }
  }
  return 0.0;
}

}  // namespace heed::objective
