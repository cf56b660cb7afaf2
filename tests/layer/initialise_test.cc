#include "heed/layer/initialise.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace heed {
namespace {

std::vector<float> filled(const Initialiser& initialiser, int64_t rows, int64_t cols, uint64_t seed) {
  std::vector<float> values(static_cast<size_t>(rows * cols), NAN);
  initialiser.fill(values, rows, cols, seed);
  return values;
}

/// The mean of f(x), and how far it may stray: five deviations of a mean of that many values.
struct Moment {
  double mean = 0.0, slack = 0.0;
};
Moment moment(const std::vector<float>& values, const auto& f) {
  double sum = 0.0, squares = 0.0;
  for (const float value : values) {
    sum += f(value);
    squares += f(value) * f(value);
  }
  const double n = static_cast<double>(values.size()), mean = sum / n;
  return {mean, 5.0 * std::sqrt((squares / n - mean * mean) / n)};
}

void expect_moments(const std::vector<float>& values, double variance, double fourth) {
  const Moment first = moment(values, [](double x) { return x; });
  const Moment second = moment(values, [](double x) { return x * x; });
  const Moment third = moment(values, [](double x) { return x * x * x; });
  const Moment last = moment(values, [](double x) { return x * x * x * x; });
  EXPECT_NEAR(first.mean, 0.0, first.slack);
  EXPECT_NEAR(second.mean, variance, second.slack);
  EXPECT_NEAR(third.mean, 0.0, third.slack);
  EXPECT_NEAR(last.mean, fourth, last.slack);
  // Neighbours must not know each other.
  double neighbours = 0.0;
  for (size_t i = 0; i + 1 < values.size(); ++i) neighbours += static_cast<double>(values[i]) * values[i + 1];
  EXPECT_NEAR(neighbours / variance, 0.0, 5.0 * std::sqrt(static_cast<double>(values.size())));
}

TEST(Initialiser, Constant) { EXPECT_EQ(filled(Initialiser::constant(3.5f), 2, 2, 1), std::vector<float>(4, 3.5f)); }

void expect_uniform(const std::vector<float>& values, double reach) {
  expect_moments(values, reach * reach / 3.0, std::pow(reach, 4) / 5.0);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*low, -reach * (1 + 1e-6));
  EXPECT_LE(*high, reach * (1 + 1e-6));
  EXPECT_LT(*low, -0.99 * reach);
  EXPECT_GT(*high, 0.99 * reach);
}

TEST(Initialiser, Uniform) { expect_uniform(filled(Initialiser::uniform(0.3f), 300, 400, 2), 0.3); }
TEST(Initialiser, XavierUniform) {
  expect_uniform(filled(Initialiser::xavier(1.5f), 300, 400, 3), 1.5 * std::sqrt(6.0 / 700.0));
}
TEST(Initialiser, Normal) {
  expect_moments(filled(Initialiser::normal(0.02f), 300, 400, 4), 0.02 * 0.02, 3.0 * std::pow(0.02, 4));
}

class Orthogonal : public testing::TestWithParam<std::tuple<int64_t, int64_t>> {};

TEST_P(Orthogonal, RowsOfABlockAreOrthonormal) {
  const auto [rows, cols] = GetParam();
  const float gain = 0.5f;
  const std::vector<float> w = filled(Initialiser::orthogonal(gain), rows, cols, 6);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i / cols * cols; j <= i; ++j) {
      double product = 0.0;
      for (int64_t c = 0; c < cols; ++c) product += static_cast<double>(w[i * cols + c]) * w[j * cols + c];
      EXPECT_NEAR(product / (gain * gain), i == j ? 1.0 : 0.0, 3e-7) << i << ", " << j;
    }
  // Blocks are drawn one by one: the next is not the first again.
  if (rows > cols) {
    EXPECT_FALSE(std::equal(w.begin(), w.begin() + cols, w.begin() + cols * cols));
  }
}
INSTANTIATE_TEST_SUITE_P(Shapes, Orthogonal,
                         testing::Values(std::tuple(1, 1), std::tuple(7, 7), std::tuple(3, 65), std::tuple(21, 7),
                                         std::tuple(10, 4), std::tuple(257, 257)));

TEST(Initialiser, OrthogonalHasNoPreferredDirection) {
  // Of a random rotation every entry has mean 0 and variance 1 / cols, the last row as well as the first.
  std::vector<float> first, last;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const std::vector<float> w = filled(Initialiser::orthogonal(), 4, 4, 1000 * seed);
    first.insert(first.end(), w.begin(), w.begin() + 1);
    last.insert(last.end(), w.end() - 1, w.end());
  }
  for (const std::vector<float>& entries : {first, last}) {
    const Moment mean = moment(entries, [](double x) { return x; });
    const Moment square = moment(entries, [](double x) { return x * x; });
    EXPECT_NEAR(mean.mean, 0.0, mean.slack);
    EXPECT_NEAR(square.mean, 0.25, square.slack);
  }
}

TEST(Initialiser, SameSeedSameValues) {
  for (const auto kind : {Initialiser::Kind::uniform, Initialiser::Kind::normal, Initialiser::Kind::xavier_uniform,
                          Initialiser::Kind::orthogonal}) {
    const Initialiser initialiser{kind, 1.0f};
    EXPECT_EQ(filled(initialiser, 9, 5, 11), filled(initialiser, 9, 5, 11));
    EXPECT_NE(filled(initialiser, 9, 5, 11), filled(initialiser, 9, 5, 12));
  }
}

TEST(Initialiser, TheSameOnEveryMachine) {
  // From the same formulas written in Python: a seed gives the same model for ever.
  const auto near = [](const std::vector<float>& values, const std::vector<float>& expected) {
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-7f) << i;
  };
  near(filled(Initialiser::uniform(1.0f), 1, 3, 42), {0.483129758f, -0.680179214f, -0.442797739f});
  near(filled(Initialiser::normal(1.0f), 1, 3, 42), {0.882248906f, -0.450849876f, 0.188352634f});
  near(filled(Initialiser::orthogonal(), 2, 2, 42), {0.642246129f, 0.766498474f, 0.766498474f, -0.642246129f});
}

TEST(Initialiser, NothingToFill) {
  filled(Initialiser::orthogonal(), 0, 4, 1);
  filled(Initialiser::orthogonal(), 4, 0, 1);
  filled(Initialiser::xavier(), 0, 0, 1);
}

}  // namespace
}  // namespace heed
