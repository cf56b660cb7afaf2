#include "heed/compare/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "heed/base/error.h"

namespace heed::compare {

namespace {

constexpr double kPi = 3.14159265358979323846;

/// For x >= 0. Halving the angle three times leaves at most pi / 16, where the series converges fast.
double arc_tangent(double x) {
  if (std::isinf(x)) return kPi / 2;
  for (int i = 0; i < 3; ++i) x = x / (1.0 + std::sqrt(1.0 + x * x));
  double sum = 0;
  for (int n = 27; n >= 1; n -= 2) sum = (n % 4 == 1 ? 1.0 : -1.0) / n + x * x * sum;
  return 8.0 * x * sum;
}

}  // namespace

std::optional<Mean> mean_of(std::span<const double> values) {
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  Mean result{.mean = std::accumulate(values.begin(), values.end(), 0.0) / count, .count = std::ssize(values)};
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double x : values) squares += (x - result.mean) * (x - result.mean);
  result.spread = std::sqrt(squares / (count - 1));
  return result;
}

double student_two_sided(double t, int64_t degrees) {
  expect(degrees >= 1, "student_two_sided: {} degrees of freedom; at least 1 is needed", degrees);
  // Abramowitz and Stegun 26.7.3 and 26.7.4: with theta = atan(t / sqrt(degrees)), a finite sum of powers of its
  // cosine, whose coefficients follow from each other.
  const double nu = static_cast<double>(degrees), size = std::abs(t);
  if (std::isinf(size)) return 0;
  const double root = std::sqrt(nu + size * size), sine = size / root, cosine = std::sqrt(nu) / root;
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1.0, sum = odd && degrees == 1 ? 0.0 : term;
  for (int64_t k = odd ? 3 : 2; k <= degrees - 2; k += 2) {
    term *= cosine * cosine * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  const double inside = odd ? 2.0 / kPi * (arc_tangent(size / std::sqrt(nu)) + sine * sum) : sine * sum;
  return std::clamp(1.0 - inside, 0.0, 1.0);
}

std::optional<double> paired_t_test(std::span<const double> a, std::span<const double> b) {
  expect(a.size() == b.size(), "paired_t_test: {} and {} values do not belong together", a.size(), b.size());
  std::vector<double> differences;
  for (size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  const std::optional<Mean> mean = mean_of(differences);
  if (!mean || !mean->spread) return {};
  if (*mean->spread == 0) return mean->mean == 0 ? 1.0 : 0.0;
  const double t = mean->mean / (*mean->spread / std::sqrt(static_cast<double>(mean->count)));
  return student_two_sided(t, mean->count - 1);
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return p[i] < p[j]; });
  std::vector<double> adjusted(p.size());
  double most = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    most = std::max(most, std::min(1.0, static_cast<double>(p.size() - rank) * p[order[rank]]));
    adjusted[order[rank]] = most;
  }
  return adjusted;
}

}  // namespace heed::compare
