// y(t) = sum over k of x_k h(t - k), with h(x) = r sinc(r x) under a Kaiser window, stretched if the rate gets lower.
// h is a table with linear interpolation, so that any two rates go together and no table is large.
#include "heed/sound/resample.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/memory.h"
#include "heed/kernels/exact_math.h"

namespace heed::sound {

namespace {

constexpr int64_t kCrossings = 32;   // zeros of sinc to a side
constexpr int64_t kPrecision = 512;  // numbers of the table between two of them
constexpr double kRolloff = 0.945;   // where the band ends, of what the rate could hold
constexpr double kBeta = 11.0;       // of the window: side lobes at about -110 dB

/// The modified Bessel function of the first kind, of order 0, by its series.
double bessel(double x) {
  double sum = 1, term = 1;
  for (int k = 1; k < 200 && term > 1e-18 * sum; ++k) {
    const double half = x / (2.0 * k);
    term *= half * half;
    sum += term;
  }
  return sum;
}

/// h at 0, 1/512, ... to kCrossings, and one more 0.
const std::vector<double>& table() {
  static const std::vector<double> all = [] {
    std::vector<double> h(static_cast<size_t>(kCrossings * kPrecision + 2), 0.0);
    const double at_zero = bessel(kBeta);
    for (int64_t i = 0; i <= kCrossings * kPrecision; ++i) {
      const double x = static_cast<double>(i) / static_cast<double>(kPrecision);
      const double angle = std::numbers::pi * kRolloff * x;
      const double sinc = i == 0 ? 1.0 : exact::sin_cos(angle).sin / angle;
      const double place = x / static_cast<double>(kCrossings);
      h[static_cast<size_t>(i)] =
          kRolloff * sinc * bessel(kBeta * std::sqrt(std::max(0.0, 1.0 - place * place))) / at_zero;
    }
    return h;
  }();
  return all;
}

}  // namespace

std::vector<float> resampled(std::span<const float> samples, int64_t from, int64_t to) {
  expect(from > 0 && to > 0, "resampled: rates must be positive, not {} and {}", from, to);
  if (from == to) return {samples.begin(), samples.end()};
  const auto count = std::ssize(samples);
  const int64_t results = (count * to + from - 1) / from;
  expect_memory(static_cast<double>(sizeof(float)) * static_cast<double>(results), "a recording at another rate");
  const std::vector<double>& h = table();
  const double narrow = std::min(1.0, static_cast<double>(to) / static_cast<double>(from));
  const double step = narrow * static_cast<double>(kPrecision);  // of the table, from one sample to the next
  const auto reach = static_cast<int64_t>(std::ceil(static_cast<double>(kCrossings) / narrow));
  std::vector<float> result(static_cast<size_t>(results));
  for (int64_t n = 0; n < results; ++n) {
    if (n % 4096 == 0) stop_if_interrupted();
    const int64_t whole = n * from / to;
    const double part = static_cast<double>(n * from % to) / static_cast<double>(to);
    const int64_t first = std::max<int64_t>(0, whole - reach), last = std::min(count - 1, whole + reach + 1);
    double sum = 0;
    for (int64_t k = first; k <= last; ++k) {
      const double at = std::abs(static_cast<double>(whole - k) + part) * step;
      const auto place = static_cast<size_t>(at);
      if (place > static_cast<size_t>(kCrossings * kPrecision)) continue;
      const double rest = at - static_cast<double>(place);
      sum += samples[static_cast<size_t>(k)] * (h[place] + rest * (h[place + 1] - h[place]));
    }
    result[static_cast<size_t>(n)] = static_cast<float>(narrow * sum);
  }
  return result;
}

}  // namespace heed::sound
