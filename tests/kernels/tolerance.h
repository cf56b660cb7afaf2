// How far the library may be from the truth, and what is told where it is further.
//
// Truth is the reference in double; what float32 may be off by follows from the same formulas, element by element
// (bounded.h). Infinities must agree exactly; NaN is never right.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace heed::kernels::test {

constexpr double kEps = std::numeric_limits<float>::epsilon();

/// Distance of two numbers: 0 for equal infinities, inf where one is not a number or infinities differ.
inline double distance(double got, double truth) {
  if (got == truth) return 0.0;
  const double error = std::abs(got - truth);
  return error < INFINITY ? error : INFINITY;
}

template <class T>
double largest_error(const std::vector<T>& got, const std::vector<double>& truth) {
  double worst = 0.0;
  for (size_t n = 0; n < truth.size(); ++n) worst = std::max(worst, distance(static_cast<double>(got[n]), truth[n]));
  return worst;
}

inline double largest_value(const std::vector<double>& values) {
  double largest = 0.0;
  for (double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

/// `bound`: of the error of each element. A number below the smallest normal float may have become 0.
inline testing::AssertionResult close(const std::string& name, const std::vector<float>& got,
                                      const std::vector<double>& truth, const std::vector<double>& bound) {
  if (got.size() != truth.size())
    return testing::AssertionFailure() << name << " has " << got.size() << " elements, not " << truth.size();
  double worst = 0.0;
  size_t at = 0;
  for (size_t n = 0; n < truth.size(); ++n) {
    const double allowed = bound[n] + std::numeric_limits<float>::min();
    const double error = distance(got[n], truth[n]);
    if (!(error <= allowed * worst)) worst = error / allowed, at = n;
  }
  if (worst <= 1.0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << name << "[" << at << "] = " << got[at] << ", truth " << truth[at] << "; error "
                                     << distance(got[at], truth[at]) << ", allowed " << bound[at] << " (largest value "
                                     << largest_value(truth) << ")";
}

}  // namespace heed::kernels::test
