// slow: 9 s
// Every score x normaliser x region with few queries and many keys, as in decoding: outputs and weights against the
// reference in double, on every instruction set. (backward_test.cc compares the outputs of larger shapes too.)
#include <gtest/gtest.h>

#include "tests/kernels/combinations.h"
#include "tests/kernels/expect.h"

namespace heed::kernels::test {
namespace {

constexpr Shape kForwardShape = {
    .batch = 2, .heads = 2, .kv_heads = 1, .queries = 4, .keys = 131, .dim = 12, .value_dim = 10};

class Forward : public testing::TestWithParam<Combination> {};

TEST_P(Forward, LikeReference) {
  Case c = combine(kForwardShape, GetParam());
  ASSERT_TRUE(fill_smooth(c, 11, 2e-6));
  expect_like_reference(c, {.gradients = false, .weights = true});
}

INSTANTIATE_TEST_SUITE_P(All, Forward, every_combination(), combination_name);

}  // namespace
}  // namespace heed::kernels::test
