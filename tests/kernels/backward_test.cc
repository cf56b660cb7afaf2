// slow: 40 s
// Every score x normaliser x region, all gradients, against the reference in double, on every instruction set.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/combinations.h"
#include "tests/kernels/expect.h"

namespace heed::kernels::test {
namespace {

constexpr Shape kSmall = {.batch = 2, .heads = 2, .kv_heads = 1, .queries = 19, .keys = 37, .dim = 12, .value_dim = 10};
// Several tiles on both axes.
constexpr Shape kLarge = {.batch = 1, .heads = 1, .queries = 201, .keys = 330, .dim = 16, .value_dim = 24};

class Backward : public testing::TestWithParam<Combination> {};

TEST_P(Backward, LikeReference) {
  Shape shape = kSmall;
  // A network for every pair is three fifths of all combinations and most of the time; BackwardLarge has more rows of
  // it.
  if (std::get<0>(GetParam()).name.starts_with("mlp")) shape.queries = 7;
  Case c = combine(shape, GetParam());
  ASSERT_TRUE(fill_smooth(c, 21, 2e-6));
  expect_like_reference(c);
}

INSTANTIATE_TEST_SUITE_P(All, Backward, every_combination(), combination_name);

/// Both axes longer than any tile: each score and each normaliser once, on the regions that cut tiles.
class BackwardLarge : public testing::TestWithParam<Combination> {};

TEST_P(BackwardLarge, LikeReference) {
  Case c = combine(kLarge, GetParam());
  ASSERT_TRUE(fill_smooth(c, 31, 1e-7));
  expect_like_reference(c);
}

const std::vector<std::string> kCutting = {"global", "causal_bottom_right", "mask_bits"};

INSTANTIATE_TEST_SUITE_P(Scores, BackwardLarge,
                         testing::Combine(testing::ValuesIn(only(all_scores(),
                                                                 {"tanh_sum", "mlp2_gelu", "none", "custom"})),
                                          testing::ValuesIn(only(all_normalisers(), {"softmax", "entmax15"})),
                                          testing::ValuesIn(only(all_regions(), kCutting))),
                         combination_name);
INSTANTIATE_TEST_SUITE_P(Normalisers, BackwardLarge,
                         testing::Combine(testing::ValuesIn(only(all_scores(), {"inner"})),
                                          testing::ValuesIn(all_normalisers()),
                                          testing::ValuesIn(only(all_regions(), kCutting))),
                         combination_name);
INSTANTIATE_TEST_SUITE_P(Regions, BackwardLarge,
                         testing::Combine(testing::ValuesIn(only(all_scores(), {"inner"})),
                                          testing::ValuesIn(only(all_normalisers(), {"softmax", "sigmoid_mean"})),
                                          testing::ValuesIn(all_regions())),
                         combination_name);

}  // namespace
}  // namespace heed::kernels::test
