// A layer against its plain reference: values, and the gradient of every parameter and input by central differences of
// the reference. tests/tensor/gradient_check.h does this for operations; here the parameters have names and belong to
// the layer.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/layer/parameters.h"
#include "heed/tensor/tape.h"
#include "tests/layer/reference.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {

inline std::vector<std::string> names(const Parameters& parameters) {
  std::vector<std::string> all;
  for (const Parameter& p : parameters) all.push_back(p.name);
  return all;
}

/// Adds a random number to every parameter: a bias of zero and a gain of one would hide mistakes.
inline void scatter(Parameters& parameters) {
  for (Parameter& p : parameters) {
    const Matrix noise = random(p.rows(), p.cols(), 0.3);
    for (size_t i = 0; i < p.value.size(); ++i) p.value[i] += static_cast<float>(noise.values[i]);
  }
}

/// Relative to the largest number of a tensor. Float rounds in the last of 24 bits; a layer adds up a few dozen of
/// these.
constexpr double kValueTolerance = 3e-6;
constexpr double kGradientTolerance = 1e-5;

inline void expect_near(std::span<const float> got, const std::vector<double>& truth, const std::string& what,
                        double tolerance) {
  ASSERT_EQ(got.size(), truth.size()) << what;
  double largest = 1e-3;
  for (const double t : truth) largest = std::max(largest, std::abs(t));
  for (size_t i = 0; i < truth.size(); ++i)
    ASSERT_NEAR(got[i], truth[i], tolerance * largest) << what << "[" << i << "]";
}

struct LayerCase {
  Parameters* parameters;
  Matrices inputs;
  std::function<Tensors(Tape&, const Tensors& inputs)> layer;
  std::function<Matrices(const Weights&, const Matrices& inputs)> reference;
};

inline void check_layer(const LayerCase& c) {
  // Parameters and inputs in one list, as the differences want them.
  Matrices all;
  std::vector<std::string> what = names(*c.parameters);
  const size_t parameters = what.size();
  for (const Parameter& p : *c.parameters)
    std::copy(p.value.begin(), p.value.end(), all.emplace_back(p.rows(), p.cols()).values.begin());
  for (const Matrix& input : c.inputs) {
    what.push_back("input " + std::to_string(all.size() - parameters));
    all.push_back(input);
  }
  const Reference reference = [&](const Matrices& from) {
    Weights weights;
    for (size_t i = 0; i < parameters; ++i) weights.emplace(what[i], from[i]);
    return c.reference(weights, {from.begin() + static_cast<std::ptrdiff_t>(parameters), from.end()});
  };

  const Matrices truth = reference(all);
  Matrices upstream;
  for (const Matrix& m : truth) upstream.push_back(random(m.rows, m.cols));
  std::vector<std::vector<double>> slopes(all.size());
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t k = 0; k < all[i].values.size(); ++k) slopes[i].push_back(difference(reference, all, i, k, upstream));

  on_every_isa([&] {
    Tape tape;
    c.parameters->forget_gradients();
    std::vector<std::vector<float>> data;
    for (const Matrix& input : c.inputs) data.push_back(to_float(input));
    Tensors inputs;
    for (size_t i = 0; i < data.size(); ++i)
      inputs.push_back(tape.input(data[i].data(), c.inputs[i].rows, c.inputs[i].cols, true));

    const Tensors got = c.layer(tape, inputs);
    ASSERT_EQ(got.size(), truth.size());
    for (size_t o = 0; o < got.size(); ++o) {
      ASSERT_EQ(got[o].rows(), truth[o].rows) << "output " << o;
      ASSERT_EQ(got[o].cols(), truth[o].cols) << "output " << o;
      expect_near({got[o].data(), truth[o].values.size()}, truth[o].values, "output " + std::to_string(o),
                  kValueTolerance);
      tape.seed_gradient(got[o], to_float(upstream[o]).data());
    }
    tape.run();
    size_t i = 0;
    for (const Parameter& p : *c.parameters) {
      ASSERT_TRUE(p.has_gradient) << p.name;
      expect_near(p.gradient, slopes[i++], "d_" + p.name, kGradientTolerance);
    }
    for (const Tensor input : inputs) {
      ASSERT_NE(input.gradient(), nullptr) << what[i];
      expect_near({input.gradient(), static_cast<size_t>(input.size())}, slopes[i], "d_" + what[i], kGradientTolerance);
      ++i;
    }
  });
}

}  // namespace heed::test
