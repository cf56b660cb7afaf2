// Huge and tiny inputs: never NaN, and as near the truth as the plain formula in float.
#include <cmath>

#include <gtest/gtest.h>

#include "tests/kernels/combinations.h"
#include "tests/kernels/expect.h"

namespace heed::kernels::test {
namespace {

constexpr Shape kShape = {.batch = 1, .heads = 2, .queries = 23, .keys = 67, .dim = 16, .value_dim = 9};

class Extreme : public testing::TestWithParam<std::tuple<Part, Part>> {};

TEST_P(Extreme, TinyInputs) {
  Case c(kShape);
  std::get<0>(GetParam()).apply(c);
  std::get<1>(GetParam()).apply(c);
  if (c.problem.normalise.kind == Normaliser::argmax) GTEST_SKIP() << "all scores tie";
  c.fill(1, 1e-20);
  if (c.problem.normalise.kind == Normaliser::relu || c.problem.score.kind == ScoreKind::pair_mlp)
    expect_like_reference(c, {.gradients = false});  // every pair sits on the kink
  else
    expect_like_reference(c);
}

// Scores of 1e4 and more: softmax is all but one-hot, exp would overflow without its shift.
TEST_P(Extreme, HugeInputs) {
  Case c(kShape);
  std::get<0>(GetParam()).apply(c);
  std::get<1>(GetParam()).apply(c);
  if (!fill_smooth(c, 2, 1e-6, 1e4)) GTEST_SKIP() << "saturated scores tie for the best";
  on_every_isa([&] {
    Library library(c);
    ASSERT_TRUE(library.forward().ok());
    ASSERT_TRUE(library.backward().ok());
    for (const auto& [name, values] : library.results.named())
      for (float value : *values) ASSERT_FALSE(std::isnan(value)) << name;
    for (const auto& [name, values] : library.grad.named())
      for (float value : *values) ASSERT_FALSE(std::isnan(value)) << "d_" << name;
  });
  expect_like_reference(c);
}

std::vector<Part> smooth_scores() {
  std::vector<Part> parts;
  for (const Part& part : all_scores())
    if (part.name != "none" && part.name.find("relu") == std::string::npos) parts.push_back(part);
  return parts;
}
std::vector<Part> without_sampled() {
  std::vector<Part> parts = all_normalisers();
  parts.pop_back();
  return parts;
}
INSTANTIATE_TEST_SUITE_P(All, Extreme,
                         testing::Combine(testing::ValuesIn(smooth_scores()), testing::ValuesIn(without_sampled())),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_x_" + std::get<1>(info.param).name;
                         });

// q = +1e4 and k = -1e4 + x: the factorised exponential would be inf * 0; the answer is tanh of the float sum.
TEST(TanhSum, OppositeHugeOffsets) {
  for (const double offset : {15.0, 20.0, 30.0, 44.0, 88.0, 200.0, 1e4}) {
    SCOPED_TRACE(offset);
    Case c(kShape);
    c.with_tanh_sum().fill(3);
    for (double& q : c.x.q) q = static_cast<float>(q + offset);
    for (double& k : c.x.k) k = static_cast<float>(k - offset);
    expect_like_reference(c);
  }
}

// Huge values in single dimensions, tokens or sides only: tiles that mix both ways of evaluation.
TEST(TanhSum, MixedMagnitudes) {
  for (const int pattern : {0, 1, 2, 3, 4}) {
    SCOPED_TRACE(pattern);
    Case c(kShape);
    c.with_tanh_sum().fill(4);
    const int64_t dim = kShape.dim;
    for (size_t n = 0; n < c.x.q.size(); ++n) {
      const bool huge =
          pattern == 0 || (pattern == 1 && n % dim == 3) || (pattern == 2 && n / dim % 5 == 0) || pattern == 4;
      if (huge) c.x.q[n] = static_cast<float>(c.x.q[n] * 1e4);
    }
    for (size_t n = 0; n < c.x.k.size(); ++n) {
      const bool huge =
          (pattern == 1 && n % dim == 3) || (pattern == 2 && n / dim % 7 == 0) || pattern == 3 || pattern == 4;
      if (huge) c.x.k[n] = static_cast<float>(c.x.k[n] * 1e4);
    }
    expect_like_reference(c);
  }
}

TEST(Range, LargestFloatsStayFinite) {
  Case c(kShape);
  c.fill(5);
  for (double& v : c.x.v) v = static_cast<float>(v > 0 ? 1e37 : -1e37);
  expect_like_reference(c, {.gradients = false});
}

}  // namespace
}  // namespace heed::kernels::test
