// Scores that the forward keeps: the gradients are those of scores computed again, to the bit.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/combinations.h"
#include "tests/kernels/expect.h"

namespace heed::kernels::test {
namespace {

/// Several blocks of queries and of keys, grouped heads.
constexpr Shape kBlocks = {.heads = 2, .kv_heads = 1, .queries = 139, .keys = 150, .dim = 9, .value_dim = 7};

/// The same results and gradients with and without. What was not kept is NaN, so it would be noticed.
void expect_the_same(const Case& c) {
  on_every_isa([&] {
    Library again(c), kept(c);
    kept.keep_scores();
    ASSERT_FALSE(kept.kept_scores.empty());
    for (Library* library : {&again, &kept}) {
      const Status forward = library->forward();
      ASSERT_TRUE(forward.ok()) << forward.message();
      const Status backward = library->backward();
      ASSERT_TRUE(backward.ok()) << backward.message();
    }
    const Named<float> results[] = {again.results.named(), kept.results.named()};
    for (size_t n = 0; n < results[0].size(); ++n)
      EXPECT_TRUE(same_bits(*results[0][n].second, *results[1][n].second)) << results[0][n].first;
    const Named<float> grads[] = {again.grad.named(), kept.grad.named()};
    for (size_t n = 0; n < grads[0].size(); ++n)
      EXPECT_TRUE(same_bits(*grads[0][n].second, *grads[1][n].second)) << "d_" << grads[0][n].first;
  });
}

class KeptScores : public testing::TestWithParam<Combination> {};

TEST_P(KeptScores, SameBits) {
  Case c = combine(kBlocks, GetParam());
  c.fill(51);
  expect_the_same(c);
}

// Normalisers of one pass, of whole rows, with a pass of the gradient's own, with a choice, with a state.
INSTANTIATE_TEST_SUITE_P(
    All, KeptScores,
    testing::Combine(testing::ValuesIn(only(all_scores(), {"tanh_sum", "tanh_sum_per_head", "mlp2_gelu", "custom"})),
                     testing::ValuesIn(only(all_normalisers(), {"softmax", "entmax15", "sparsemax", "sampled",
                                                                "sigmoid_mean", "forced_forward"})),
                     testing::ValuesIn(only(all_regions(), {"global", "lengths", "causal_bottom_right", "window_sinks",
                                                            "mask_bits"}))),
    combination_name);

TEST(KeptScore, Ragged) {
  Case c({.heads = 2, .dim = 9, .value_dim = 7});
  c.with_ragged({3, 0, 140, 1}, {125, 4, 17, 1}).with_tanh_sum(true);
  c.fill(52);
  expect_the_same(c);
}

TEST(KeptScore, Softcap) {
  Case c(kBlocks);
  c.problem.score.softcap = 2.0f;
  c.with_tanh_sum();
  c.fill(53);
  expect_the_same(c);
}

TEST(KeptScore, NotWhereItDoesNotPay) {
  Case c(kBlocks);  // products
  c.fill(54);
  on_every_isa([&] {
    Library library(c);
    float untouched = 7.0f;
    library.outputs.kept_scores = &untouched;
    ASSERT_TRUE(library.forward().ok());
    EXPECT_EQ(untouched, 7.0f);
  });
}

TEST(KeptScore, OnlyWhereItPays) {
  Problem p;
  p.shape = {.batch = 2, .heads = 3, .queries = 5, .keys = 7, .dim = 8, .value_dim = 8};
  EXPECT_EQ(kept_scores_floats(p), 0);  // products
  p.score.kind = ScoreKind::tanh_sum;
  EXPECT_EQ(kept_scores_floats(p), 2 * 3 * 5 * 7);
  p.shape.queries = p.shape.keys = 1 << 14;
  EXPECT_EQ(kept_scores_floats(p), 0);  // 6 GB
  p.shape.queries = p.shape.keys = int64_t{1} << 40;
  EXPECT_EQ(kept_scores_floats(p), 0);
}

}  // namespace
}  // namespace heed::kernels::test
