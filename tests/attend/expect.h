// Comparisons, each failure with the name and the worst number.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/attend/library.h"

namespace heed::attend::test {

struct Tolerance {
  double absolute, relative;
  bool of_largest = false;  // `absolute` counts per unit of the largest number, where that is above 1
};

inline testing::AssertionResult close(const std::string& name, const std::vector<double>& got,
                                      const std::vector<double>& wanted, const Tolerance& t) {
  if (got.size() != wanted.size())
    return testing::AssertionFailure() << name << ": " << got.size() << " numbers, expected " << wanted.size();
  double largest = 1.0, worst = 0.0;
  for (const double w : wanted) largest = std::max(largest, std::abs(w));
  size_t where = 0;
  for (size_t n = 0; n < got.size(); ++n) {
    const double error = std::abs(got[n] - wanted[n]);
    const double allowed = t.absolute * (t.of_largest ? largest : 1.0) + t.relative * std::abs(wanted[n]);
    const double times = error <= allowed ? error / allowed : std::isnan(error) ? INFINITY : error / allowed;
    if (times > worst) worst = times, where = n;
  }
  if (worst <= 1.0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << name << "[" << where << "]: got " << got[where] << ", expected "
                                     << wanted[where] << ", off by " << worst << " times what is allowed";
}

/// Results of float against double.
inline constexpr Tolerance kResult{1e-5, 0.0, true};
/// Gradients of float against central differences of double.
inline constexpr Tolerance kGradient{1e-5, 1e-3};
inline constexpr double kStep = 1e-6;

/// d loss / d x of the reference for every number of every input and parameter in `wanted`.
inline Values central_differences(const Question& ask, Values x, const Request& request, const Values& wanted) {
  Values gradients;
  for (const auto& [name, like] : wanted) {
    Matrix& d = gradients[name] = Matrix(like.rows, like.cols);
    for (size_t n = 0; n < d.data.size(); ++n) {
      double& value = x.at(name).data[n];
      const double before = value;
      value = before + kStep;
      const double above = loss_of(reference(ask, x), request);
      value = before - kStep;
      const double below = loss_of(reference(ask, x), request);
      value = before;
      d.data[n] = (above - below) / (2.0 * kStep);
    }
  }
  return gradients;
}

inline void expect_gradients(const Values& got, const Values& wanted, const Tolerance& t = kGradient) {
  for (const auto& [name, d] : wanted) EXPECT_TRUE(close("d_" + name, got.at(name).data, d.data, t));
}

inline void expect_results(const Outcome& got, const Result& wanted, const Request& request) {
  EXPECT_TRUE(close("context", got.context.data, wanted.context.data, kResult));
  EXPECT_TRUE(close("weights", got.weights.data, wanted.weights.data, kResult));
  if (request.entropy) {
    EXPECT_TRUE(close("entropy", got.entropy.data, wanted.entropy.data, kResult));
  }
  if (request.guide_cost) {
    EXPECT_TRUE(close("guide_cost", got.guide_cost.data, wanted.guide_cost.data, kResult));
  }
  if (request.penalty) {
    EXPECT_TRUE(close("penalty", {got.penalty}, {wanted.penalty}, kResult));
  }
  EXPECT_TRUE(close("inner_weights", got.inner_weights.data, wanted.inner_weights.data, kResult));
}

/// Of the largest number of each tensor: the sums run in another order.
inline constexpr Tolerance kSame{1e-5, 1e-5, true};

/// Two runs of the library on the same case.
inline void expect_same(const Outcome& got, const Outcome& wanted) {
  EXPECT_TRUE(close("context", got.context.data, wanted.context.data, kSame));
  EXPECT_TRUE(close("weights", got.weights.data, wanted.weights.data, kSame));
  EXPECT_TRUE(close("entropy", got.entropy.data, wanted.entropy.data, kSame));
  EXPECT_TRUE(close("guide_cost", got.guide_cost.data, wanted.guide_cost.data, kSame));
  expect_gradients(got.gradients, wanted.gradients, kSame);
}

}  // namespace heed::attend::test
