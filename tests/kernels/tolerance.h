// How far the library may be from the truth. The one place where this is decided.
//
// Truth is the reference in double. The yardstick is the same reference in float, "plain". For each tensor
//
//   max |library - truth|  <=  kTimesPlain max |plain - truth|  +  kRoundings eps max |truth|  +  kSumRoundings eps S
//   +  FLT_MIN
//
// One run of plain is one sample of its rounding errors. Where the library seems worse, the maximum is taken over
// kSamples more, on inputs that differ in their last bits (expect.h): for a single number, plain's error may be 0 by
// luck. The second term is what a handful of roundings of the largest value may cost; the third lets subnormals be
// flushed. Infinities must agree exactly; NaN is never right.
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
constexpr double kSumRoundings = 2.0;
constexpr int kSamples = 24;

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

/// `plain_error` is the largest error of the plain formula in float; `floor` what may come on top.
inline testing::AssertionResult close(const std::string& name, const std::vector<float>& got,
                                      const std::vector<double>& truth, double plain_error, double floor = 0.0) {
  if (got.size() != truth.size())
    return testing::AssertionFailure() << name << " has " << got.size() << " elements, not " << truth.size();
  const double largest = largest_value(truth);
  const double allowed =
      kTimesPlain * plain_error + kRoundings * kEps * largest + floor + std::numeric_limits<float>::min();
  const double error = largest_error(got, truth);
  if (error <= allowed) return testing::AssertionSuccess();
  size_t worst = 0;
  while (distance(got[worst], truth[worst]) < error) ++worst;
  return testing::AssertionFailure() << name << "[" << worst << "] = " << got[worst] << ", truth " << truth[worst]
                                     << "; error " << error << ", allowed " << allowed << " (plain float errs by "
                                     << plain_error << ", largest value " << largest << ")";
}

}  // namespace heed::kernels::test
