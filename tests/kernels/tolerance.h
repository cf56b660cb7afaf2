// How far the library may be from the truth. The one place where this is decided.
//
// Truth is the reference in double. The yardstick is the same reference in float: "plain". For each tensor
//
//   max |library - truth|  <=  2 max |plain - truth|  +  floor,     floor = kRoundings eps max |truth| + FLT_MIN
//
// The floor is there for tensors so small that plain's largest error is luck (a single d_sink); kRoundings roundings of
// the largest value is what a handful of sums in another order may cost. Subnormals may be flushed. Infinities must
// agree exactly; NaN is never right.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace heed::kernels::test {

constexpr double kEps = std::numeric_limits<float>::epsilon();
constexpr double kTimesPlain = 2.0;
constexpr double kRoundings = 8.0;

/// Largest distance of finite elements; inf where one is not a number or infinities differ.
template <class T>
double largest_error(const std::vector<T>& got, const std::vector<double>& truth) {
  double worst = 0.0;
  for (size_t n = 0; n < truth.size(); ++n) {
    if (static_cast<double>(got[n]) == truth[n]) continue;  // also equal infinities
    const double error = std::abs(static_cast<double>(got[n]) - truth[n]);
    if (!(error < INFINITY)) return INFINITY;
    worst = std::max(worst, error);
  }
  return worst;
}

inline double largest_value(const std::vector<double>& values) {
  double largest = 0.0;
  for (double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

/// `magnitude`, where given, replaces max |truth|: for sums that cancel, the size of what was summed.
inline testing::AssertionResult close(const std::string& name, const std::vector<float>& got,
                                      const std::vector<double>& truth, const std::vector<float>& plain,
                                      double magnitude = 0.0) {
  if (got.size() != truth.size())
    return testing::AssertionFailure() << name << " has " << got.size() << " elements, not " << truth.size();
  const double scale = std::max(magnitude, largest_value(truth));
  const double plain_error = largest_error(plain, truth);
  const double allowed = kTimesPlain * (plain_error < INFINITY ? plain_error : 0.0) + kRoundings * kEps * scale +
                         std::numeric_limits<float>::min();
  const double error = largest_error(got, truth);
  if (error <= allowed) return testing::AssertionSuccess();
  size_t worst = 0;
  double worst_error = -1.0;
  for (size_t n = 0; n < truth.size(); ++n) {
    const double here =
        static_cast<double>(got[n]) == truth[n] ? 0.0 : std::abs(static_cast<double>(got[n]) - truth[n]);
    if (!(here <= worst_error)) worst = n, worst_error = here;
    if (!(here < INFINITY)) break;
  }
  return testing::AssertionFailure() << name << "[" << worst << "] = " << got[worst] << ", truth " << truth[worst]
                                     << ", plain float " << plain[worst] << "; largest error " << error << ", allowed "
                                     << allowed << " (plain float errs by " << plain_error << ", largest value "
                                     << largest_value(truth) << ")";
}

}  // namespace heed::kernels::test
