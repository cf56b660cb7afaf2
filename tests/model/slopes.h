// The gradients of whole models against the slopes of their loss.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "heed/layer/parameters.h"

namespace heed::model::test {

inline double length(const std::vector<double>& x) {
  return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
}

/// Half the gradient's direction, so that there is a slope, and half any: both of length 1.
inline std::vector<double> direction_for(const Parameter& p, std::mt19937_64& random) {
  std::vector<double> along(p.gradient.begin(), p.gradient.end()), any(p.value.size());
  for (double& value : any) value = std::normal_distribution<double>()(random);
  const double steep = length(along), far = length(any);
  for (size_t i = 0; i < any.size(); ++i) any[i] = any[i] / far + (steep > 0.0 ? along[i] / steep : 0.0);
  return any;
}

/// (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h: the error falls with h^4.
template <class Loss>
double slope(Parameter& p, const std::vector<double>& direction, const Loss& loss) {
  constexpr double kStep = 1e-2;
  const std::vector<float> before = p.value;
  const auto at = [&](double h) {
    for (size_t i = 0; i < before.size(); ++i) p.value[i] = static_cast<float>(before[i] + h * direction[i]);
    return loss();
  };
  const double found = (8.0 * (at(kStep) - at(-kStep)) - (at(2.0 * kStep) - at(-2.0 * kStep))) / (12.0 * kStep);
  p.value = before;
  return found;
}

/// After a backward: the gradient of every parameter is the slope of loss(), in double, along a direction of its own.
template <class Loss>
void expect_slopes(Parameters& parameters, const Loss& loss) {
  std::mt19937_64 random(1);
  size_t steep = 0;
  for (Parameter& p : parameters) {
    if (!p.has_gradient) p.gradient.assign(p.value.size(), 0.0f);  // nothing depends on it: so the slope must say
    const std::vector<double> direction = direction_for(p, random);
    const double expected = std::inner_product(direction.begin(), direction.end(), p.gradient.begin(), 0.0);
    EXPECT_NEAR(slope(p, direction, loss), expected, 3e-4 + 2e-3 * std::abs(expected)) << p.name;
    if (std::abs(expected) > 1e-2) ++steep;
  }
  EXPECT_GT(steep, parameters.size() / 2) << "too flat to tell anything";
}

}  // namespace heed::model::test
