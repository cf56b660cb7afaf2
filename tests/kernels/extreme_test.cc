// slow: 7 s
// Huge and tiny inputs: never NaN, and as near the truth as float32 can be.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/combinations.h"
#include "tests/kernels/expect.h"

namespace heed::kernels::test {
namespace {

constexpr Shape kExtremeShape = {.batch = 1, .heads = 2, .queries = 23, .keys = 67, .dim = 16, .value_dim = 9};

class Extreme : public testing::TestWithParam<std::tuple<Part, Part>> {
 protected:
  Case chosen() const {
    Case c(kExtremeShape);
    std::get<0>(GetParam()).apply(c);
    std::get<1>(GetParam()).apply(c);
    return c;
  }
};

void expect_numbers(Library& library) {
  ASSERT_TRUE(library.forward().ok());
  ASSERT_TRUE(library.backward().ok());
  for (const auto& [name, values] : library.results.named())
    for (float value : *values) ASSERT_FALSE(std::isnan(value)) << name;
  for (const auto& [name, values] : library.grad.named())
    for (float value : *values) ASSERT_FALSE(std::isnan(value)) << "d_" << name;
}

/// Where scores tie within float's rounding, or stand so near a kink that no seed avoids it, gradients cannot be
/// compared. What must hold all the same: argmax gives the value of one of the best keys, to the bit; a sparse
/// normaliser gives that of the best key wherever it leads by more than 2 (then all other weights are exactly 0); and
/// nothing is NaN.
void expect_picks_the_best(const Case& c) {
  const bool argmax = c.problem.normalise.kind == Normaliser::argmax;
  const int64_t dv = c.shape().value_dim;
  on_every_isa([&] {
    Library library(c);
    expect_numbers(library);
    int64_t checked = 0;
    for (int64_t h = 0; h < c.shape().heads; ++h) {
      const Head<double> m = head_forward(c, c.x, 0, h);
      for (int64_t i = 0; i < m.tq; ++i) {
        int64_t pick = 0;
        double best = -INFINITY, second = -INFINITY, largest = 0.0;
        for (int64_t j = 0; j < m.tk; ++j) {
          const double score = m.shifted(i, j);
          largest = std::max(largest, std::abs(score));
          second = std::max(second, std::min(best, score));
          if (score > best) best = score, pick = j;
        }
        const int64_t row = c.query_row(0, h, i);
        const double rounding = 1e-5 * largest;
        if (argmax) {
          pick = library.results.choice[row];
          ASSERT_GE(pick, 0);
          ASSERT_LT(pick, m.tk);
          ASSERT_GE(m.shifted(i, pick), best - rounding) << "row " << row;
        } else if (best - second <= 2.0 + rounding) {
          continue;
        }
        ++checked;
        for (int64_t n = 0; n < dv; ++n)
          ASSERT_EQ(library.results.out[row * dv + n],
                    static_cast<float>(c.x.v[c.key_row(c.kv_heads(), 0, m.g, pick) * dv + n]))
              << "row " << row;
      }
    }
    EXPECT_GT(checked, 0);
  });
}

TEST_P(Extreme, TinyInputs) {
  Case c = chosen();
  c.fill(1, 1e-20);
  if (c.problem.normalise.kind == Normaliser::argmax)
    expect_picks_the_best(c);  // all scores tie
  else if (c.problem.normalise.kind == Normaliser::relu)
    expect_like_reference(c, {.gradients = false});  // every pair sits on the kink
  else
    expect_like_reference(c);
}

// Scores of 1e4 and more: softmax is all but one-hot, exp would overflow without its shift.
TEST_P(Extreme, HugeInputs) {
  Case c = chosen();
  if (!fill_smooth(c, 2, 1e-6, 1e4)) return expect_picks_the_best(c);
  on_every_isa([&] {
    Library library(c);
    expect_numbers(library);
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

// Where one weight is 1 and all others are 0, softmax has no slope: d_weight - sum weight d_weight is exactly 0, in the
// order in which the library adds. (What a rounding may cost there is multiplied by keys of 1e4, and bounds allow it.)
TEST(Softmax, OneKeyThatTakesAllSendsNothingBack) {
  Case c(kExtremeShape);
  c.fill(2, 1e4);
  c.up.d_lse.clear();
  c.up.d_entropy.clear();
  on_every_isa([&] {
    Library library(c, {}, 1);
    expect_numbers(library);
    int64_t checked = 0;
    for (int64_t h = 0; h < c.shape().heads; ++h) {
      const Head<double> m = head_forward(c, c.x, 0, h);
      for (int64_t i = 0; i < m.tq; ++i) {
        const std::vector<double> weights = m.row(m.softmax, i);
        if (*std::max_element(weights.begin(), weights.end()) < 1.0) continue;
        ++checked;
        for (int64_t d = 0; d < c.shape().dim; ++d)
          ASSERT_EQ(library.grad.q[c.query_row(0, h, i) * c.shape().dim + d], 0.0f) << "head " << h << ", query " << i;
      }
    }
    EXPECT_GT(checked, 30);
  });
}

// q = +1e4 and k = -1e4 + x: the factorised exponential would be inf * 0; the answer is tanh of the float sum.
TEST(TanhSum, OppositeHugeOffsets) {
  for (const double offset : {15.0, 20.0, 30.0, 44.0, 88.0, 200.0, 1e4}) {
    SCOPED_TRACE(offset);
    Case c(kExtremeShape);
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
    Case c(kExtremeShape);
    c.with_tanh_sum().fill(4);
    const int64_t dim = kExtremeShape.dim;
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

// The bounds that docs/numerics.md gives: forward, |scale| sum_d |q_d k_d| up to the largest float, though the
// difference of two scores overflows; backward, up to 1e6. With few queries, too, which take another path.
TEST(Range, ScoresUpToTheLargestFloat) {
  for (const int64_t queries : {1, 3, 23})
    for (const Normaliser kind : {Normaliser::softmax, Normaliser::sparsemax, Normaliser::entmax15, Normaliser::argmax})
      for (const double largest : {1e6, 3.3e38}) {
        SCOPED_TRACE(std::to_string(queries) + " queries, scores up to " + std::to_string(largest));
        Shape shape = kExtremeShape;
        shape.queries = queries;
        Case c(shape);
        c.problem.normalise.kind = kind;
        c.problem.score.scale = 1.0f;
        c.fill(6);
        const double most = static_cast<float>(std::sqrt(largest / static_cast<double>(shape.dim)));
        for (double& q : c.x.q) q = q > 0 ? most : -most;
        for (double& k : c.x.k) k = k > 0 ? most : -most;
        std::fill_n(c.x.k.begin(), shape.dim, most);  // the first two keys: the largest and the smallest score there is
        std::fill_n(c.x.k.begin() + shape.dim, shape.dim, -most);
        std::fill_n(c.x.q.begin(), shape.dim, most);
        on_every_isa([&] {
          Library library(c);
          ASSERT_TRUE(library.forward().ok());
          for (const float value : library.results.out) ASSERT_TRUE(std::isfinite(value));
          for (int64_t n = 0; n < shape.value_dim; ++n)  // the first query sees the first key alone
            ASSERT_EQ(library.results.out[n], static_cast<float>(c.x.v[n]));
          if (largest > 1e6) return;
          ASSERT_TRUE(library.backward().ok());
          for (const auto& [name, values] : library.grad.named())
            for (const float value : *values) ASSERT_FALSE(std::isnan(value)) << "d_" << name;
        });
      }
}

// Of n equal scores each weight is 1 / n: a long sum of short numbers, whose threshold is as small as they are.
TEST(Sparse, ManyEqualScores) {
  for (const int64_t keys : {1000, 100'000}) {
    SCOPED_TRACE(keys);
    for (const Normaliser kind : {Normaliser::sparsemax, Normaliser::entmax15}) {
      Case c({.batch = 1, .heads = 1, .queries = 5, .keys = keys, .dim = 1, .value_dim = 1});
      c.problem.normalise.kind = kind;
      c.fill(7);
      std::fill(c.x.k.begin(), c.x.k.end(), 0.5);
      std::fill(c.x.v.begin(), c.x.v.end(), 1.0);
      on_every_isa([&] {
        Library library(c);
        ASSERT_TRUE(library.forward().ok());
        for (const float sum : library.results.out) EXPECT_NEAR(sum, 1.0f, 1e-5f);
      });
    }
  }
}

TEST(Range, LargestFloatsStayFinite) {
  Case c(kExtremeShape);
  c.fill(5);
  for (double& v : c.x.v) v = static_cast<float>(v > 0 ? 1e37 : -1e37);
  expect_like_reference(c, {.gradients = false});
}

/// Additive attention divides by v where that is safe: v of 0, v of very different sizes, one that outgrows all others.
TEST(TanhSum, EveryV) {
  const std::vector<std::vector<double>> patterns = {
      {0.0},
      {1.0, 0.0},
      {1.0, -1.0},
      {1e-3, 1.0},
      {1e-3},
      {1e-30, 1e30},
      {1e-40, 1.0},
      {1e-42},
      {1e30, 1.0, -1e-30},
      {3.0, 0.02, -0.02, 0.02, 0.02, -0.02, 0.02, 0.02},
      {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1e5},
      {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1e7, 1e7, 1e7, 1e7, 1e7, 1e7, 1e7, 1e7, 1e-7, 1e-7, 1e-7},
      {0.2, 0.2, 0.2, 0.2, 40.0, 40.0, 40.0, 40.0}};
  for (const double scale : {0.01, 0.5, 0.8, 1.2, 3.0, 30.0})
    for (const auto& pattern : patterns) {
      SCOPED_TRACE(testing::Message() << "v " << testing::PrintToString(pattern) << ", inputs " << scale);
      Case c({.queries = 19, .keys = 21, .dim = 21, .value_dim = 3});
      c.with_tanh_sum().fill(71, scale);
      for (size_t n = 0; n < c.x.score_v.size(); ++n) c.x.score_v[n] = static_cast<float>(pattern[n % pattern.size()]);
      expect_like_reference(c);
    }
}

}  // namespace
}  // namespace heed::kernels::test
