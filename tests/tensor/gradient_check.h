// Checks an operation against the same function written plainly in double: its values, and the gradient of a random
// weighted sum of its results against central differences, for every input.
//
//   check_gradients({random(7, 5), random(3, 5)},
//                   [](Tape&, const Tensors& in) -> Tensors { return {linear(in[0], in[1])}; },
//                   [](const Matrices& in) -> Matrices { ... });
//
// On every instruction set of this machine. Also: an input that wants no gradient changes nothing for the others, and
// what is in a gradient already is added to.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/kernels/isa.h"
#include "heed/tensor/tape.h"
#include "tests/threads.h"

namespace heed::test {

struct Matrix {
  int64_t rows = 0, cols = 0;
  std::vector<double> values;

  Matrix() = default;
  Matrix(int64_t r, int64_t c, double value = 0.0) : rows(r), cols(c), values(static_cast<size_t>(r * c), value) {}
  double& operator()(int64_t r, int64_t c) { return values[static_cast<size_t>(r * cols + c)]; }
  double operator()(int64_t r, int64_t c) const { return values[static_cast<size_t>(r * cols + c)]; }
  int64_t size() const { return rows * cols; }
};

using Matrices = std::vector<Matrix>;
using Tensors = std::vector<Tensor>;
using Operation = std::function<Tensors(Tape&, const Tensors&)>;
using Reference = std::function<Matrices(const Matrices&)>;

/// Normal numbers that a float holds exactly; the same in every run.
inline Matrix random(int64_t rows, int64_t cols, double deviation = 1.0) {
  static std::mt19937_64 generator(20240229);
  Matrix m(rows, cols);
  for (double& v : m.values) v = static_cast<float>(std::normal_distribution<double>(0.0, deviation)(generator));
  return m;
}

/// Reads like out(r, c) = f(r, c) for all r and c.
template <class F>
Matrix make_matrix(int64_t rows, int64_t cols, const F& f) {
  Matrix m(rows, cols);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) m(r, c) = f(r, c);
  return m;
}

inline std::vector<float> to_float(const Matrix& m) { return {m.values.begin(), m.values.end()}; }

/// Uses each instruction set of this machine in turn.
template <class F>
void on_every_isa(const F& f) {
  for (const std::string& name : kernels::available_isas()) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(kernels::use_isa(name));
    f();
  }
  ASSERT_TRUE(kernels::use_isa(""));
}

struct CheckOptions {
  double value_tolerance = 1e-5;  // absolute, and relative to the largest value of a result
  double absolute = 1e-5;         // of a gradient
  double relative = 1e-3;
  TapeOptions tape = {};
  int64_t differences = 200;  // elements of an input that are moved; all if there are fewer
};

/// What an operation gives: values and gradients as they come out of the library.
struct Outcome {
  std::vector<std::vector<float>> values, gradients;
};

inline std::vector<float> copy_of(const float* from, int64_t count) {
  return from ? std::vector<float>(from, from + count) : std::vector<float>();
}

/// Fills the memory of a tape with NaN: whoever reads what nobody wrote will be seen.
inline void spoil(Tape& tape) {
  constexpr int64_t kCount = 1 << 18;
  std::fill_n(tape.keep<float>(kCount), kCount, std::nanf(""));
  tape.reset();
}

struct RunOptions {
  TapeOptions tape = {};
  int only = -1;  // the only input that wants a gradient; -1: all do
  int times = 1;  // forwards and backwards without forgetting the gradients
};

/// Runs `f` with parameters for inputs and `weights` for the gradients of its results.
inline Outcome run(const Operation& f, const Matrices& inputs, const Matrices& weights,
                   const RunOptions& options = {}) {
  std::vector<Parameter> parameters(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    parameters[i].shape = {inputs[i].rows, inputs[i].cols};
    parameters[i].value = to_float(inputs[i]);
    parameters[i].gradient.assign(parameters[i].value.size(), std::nanf(""));  // whoever adds to it will be seen
    parameters[i].trainable = options.only < 0 || options.only == static_cast<int>(i);
  }
  Outcome outcome;
  Tape tape(options.tape);
  spoil(tape);
  for (int time = 0; time < options.times; ++time) {
    Tensors in;
    for (Parameter& p : parameters) in.push_back(tape.parameter(p));
    const Tensors out = f(tape, in);
    outcome.values.clear();
    for (const Tensor t : out) outcome.values.push_back(copy_of(t.data(), t.size()));
    for (size_t o = 0; o < out.size() && o < weights.size(); ++o)
      if (out[o].needs_gradient()) tape.seed_gradient(out[o], to_float(weights[o]).data());
    tape.run();
    tape.reset();
  }
  for (Parameter& p : parameters)
    outcome.gradients.push_back(p.has_gradient ? p.gradient : std::vector<float>(p.value.size(), 0.0f));
  return outcome;
}

inline void expect_values(const std::vector<std::vector<float>>& got, const Matrices& expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t o = 0; o < got.size(); ++o) {
    ASSERT_EQ(got[o].size(), expected[o].values.size()) << "result " << o;
    double largest = 0.0;
    for (const double v : expected[o].values) largest = std::max(largest, std::abs(v));
    for (size_t i = 0; i < got[o].size(); ++i)
      ASSERT_NEAR(got[o][i], expected[o].values[i], tolerance * (1.0 + largest)) << "result " << o << ", element " << i;
  }
}

inline double weighted(const Matrices& results, const Matrices& weights) {
  double sum = 0.0;
  for (size_t o = 0; o < results.size(); ++o)
    for (size_t i = 0; i < results[o].values.size(); ++i) sum += results[o].values[i] * weights[o].values[i];
  return sum;
}

/// d (weighted sum) / d inputs[i][k], by central differences of the reference.
inline double difference(const Reference& reference, Matrices inputs, size_t i, size_t k, const Matrices& weights) {
  constexpr double kStep = 1e-6;
  const double value = inputs[i].values[k];
  inputs[i].values[k] = value + kStep;
  const double above = weighted(reference(inputs), weights);
  inputs[i].values[k] = value - kStep;
  const double below = weighted(reference(inputs), weights);
  return (above - below) / (2.0 * kStep);
}

inline void check_gradients(const Matrices& inputs, const Operation& f, const Reference& reference,
                            const CheckOptions& options = {}) {
  const Matrices expected = reference(inputs);
  Matrices weights;
  for (const Matrix& m : expected) weights.push_back(random(m.rows, m.cols));

  std::vector<std::vector<std::pair<size_t, double>>> slopes(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t count = inputs[i].size();
    const int64_t step = std::max<int64_t>(1, count / options.differences);
    for (int64_t k = 0; k < count; k += step)
      slopes[i].push_back({static_cast<size_t>(k), difference(reference, inputs, i, static_cast<size_t>(k), weights)});
  }

  on_every_isa([&] {
    const Outcome once = run(f, inputs, weights, {options.tape});
    expect_values(once.values, expected, options.value_tolerance);
    for (size_t i = 0; i < inputs.size(); ++i)
      for (const auto& [k, slope] : slopes[i])
        ASSERT_NEAR(once.gradients[i][k], slope, options.absolute + options.relative * std::abs(slope))
            << "gradient of input " << i << ", element " << k;

    for (size_t i = 0; i < inputs.size(); ++i) {
      const Outcome alone = run(f, inputs, weights, {.tape = options.tape, .only = static_cast<int>(i)});
      ASSERT_EQ(alone.gradients[i], once.gradients[i]) << "input " << i << " is the only one that wants a gradient";
      ASSERT_EQ(alone.values, once.values);
    }

    const Outcome twice = run(f, inputs, weights, {.tape = options.tape, .times = 2});
    for (size_t i = 0; i < inputs.size(); ++i)
      for (size_t k = 0; k < once.gradients[i].size(); ++k)
        ASSERT_NEAR(twice.gradients[i][k], 2.0 * once.gradients[i][k], 1e-5 + 1e-5 * std::abs(once.gradients[i][k]))
            << "two backwards: input " << i << ", element " << k;
  });
}

/// The same bits from one thread and from two. The inputs must be large enough for the work to be cut.
inline void check_threads(const Matrices& inputs, const Operation& f, TapeOptions options = {}) {
  Matrices weights;
  {
    Tape tape(options);
    std::vector<std::vector<float>> data;
    Tensors in;
    for (const Matrix& m : inputs) data.push_back(to_float(m));
    for (size_t i = 0; i < inputs.size(); ++i) in.push_back(tape.input(data[i].data(), inputs[i].rows, inputs[i].cols));
    for (const Tensor t : f(tape, in)) weights.push_back(random(t.rows(), t.cols()));
  }
  const auto with = [&](int threads) {
    const heed::test::Threads guard(threads);
    return run(f, inputs, weights, {options});
  };
  const Outcome one = with(1);
  for (const int threads : {2, 3}) {
    const Outcome several = with(threads);
    EXPECT_EQ(one.values, several.values) << threads << " threads";
    EXPECT_EQ(one.gradients, several.gradients) << threads << " threads";
  }
}

/// `f` throws an Error with exactly this message.
template <class F>
void expect_error(const F& f, const std::string& message) {
  try {
    f();
    FAIL() << "no error; expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), message);
  }
}

}  // namespace heed::test
