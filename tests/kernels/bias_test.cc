// slow: 6 s
// Everything that is added to the score, alone and together, with gradients; infinities in the bias.
#include <cmath>

#include <gtest/gtest.h>

#include "tests/kernels/combinations.h"
#include "tests/kernels/expect.h"

namespace heed::kernels::test {
namespace {

constexpr Shape kBiasShape = {.batch = 2, .heads = 3, .queries = 21, .keys = 70, .dim = 8, .value_dim = 6};

TEST(BiasTensor, EveryBroadcast) {
  for (int axes = 0; axes < 16; ++axes) {
    SCOPED_TRACE(testing::Message() << "batch " << (axes & 1) << " head " << (axes >> 1 & 1) << " query "
                                    << (axes >> 2 & 1) << " key " << (axes >> 3));
    for (const Normaliser kind : {Normaliser::softmax, Normaliser::sigmoid, Normaliser::entmax15}) {
      Case c(kBiasShape);
      c.problem.normalise.kind = kind;
      expect_like_reference(c.with_tensor(axes & 1, axes & 2, axes & 4, axes & 8).fill(axes + 1));
    }
  }
}

class EachBias : public testing::TestWithParam<std::tuple<Part, Part>> {};

TEST_P(EachBias, LikeReference) {
  for (const Align align : {Align::top_left, Align::bottom_right, Align::offset}) {
    Case c(kBiasShape);
    c.problem.region.align = align;
    c.problem.region.query_offset = 11;
    std::get<0>(GetParam()).apply(c);
    std::get<1>(GetParam()).apply(c);
    ASSERT_TRUE(fill_smooth(c, 5, 1e-6));
    expect_like_reference(c, {.weights = true});
  }
}

const std::vector<Part> kBiases = {
    {"alibi", [](Case& c) { c.with_alibi(); }},
    {"relative", [](Case& c) { c.with_relative(5, false); }},
    {"relative_per_head", [](Case& c) { c.with_relative(40, true); }},
    {"relative_reach_0", [](Case& c) { c.with_relative(0, true); }},
    {"custom", [](Case& c) { c.with_custom_bias(); }},
    {"all",
     [](Case& c) {
       c.with_tensor(false, true, true, true).with_alibi().with_relative(7, true).with_custom_bias();
       c.problem.score.softcap = 2.0f;
       c.problem.region.causal = true;
     }},
    {"bias_only",
     [](Case& c) {
       c.problem.score.kind = ScoreKind::none;
       c.with_tensor(false, true, true, true).with_relative(9, false);
     }},
};
INSTANTIATE_TEST_SUITE_P(All, EachBias,
                         testing::Combine(testing::ValuesIn(kBiases), testing::ValuesIn(all_normalisers())),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_x_" + std::get<1>(info.param).name;
                         });

TEST(Softcap, EveryScore) {
  for (const Part& score : all_scores()) {
    if (score.name == "none") continue;  // nothing to cap
    SCOPED_TRACE(score.name);
    Case c(kBiasShape);
    score.apply(c);
    c.problem.score.softcap = 0.7f;
    ASSERT_TRUE(fill_smooth(c, 7, 1e-6));
    expect_like_reference(c);
  }
}

TEST(Sink, TakesWeightAndHasAGradient) {
  for (const bool causal : {false, true}) {
    Case c(kBiasShape);
    c.with_sink().with_guide(0.3f).with_mask(MaskKind::bytes, true, true);
    c.problem.region.causal = causal;
    expect_like_reference(c.fill(8), {.weights = true});
  }
  Case large(kBiasShape);  // a sink above all scores, one far below
  large.with_sink().fill(9);
  large.x.sink = {60.0, -200.0, 3.0};
  expect_like_reference(large, {.weights = true});
}

// -inf hides a pair exactly as the region does, whatever the normaliser; a row of nothing else is an empty row.
TEST(Infinity, MinusHides) {
  for (const Part& normaliser : all_normalisers()) {
    SCOPED_TRACE(normaliser.name);
    Case c(kBiasShape);
    normaliser.apply(c);
    c.with_tensor(true, false, true, true).with_guide(0.3f).fill(10);
    for (size_t n = 0; n < c.x.bias_tensor.size(); ++n)
      if (n % 3 == 0 || n / 70 == 4) c.x.bias_tensor[n] = -INFINITY;
    expect_like_reference(c, {.weights = true});
  }
}

TEST(Infinity, PlusWinsAndShares) {
  for (const Normaliser kind : {Normaliser::softmax, Normaliser::argmax}) {
    Case c(kBiasShape);
    c.problem.normalise.kind = kind;
    c.with_tensor(false, true, true, true).fill(11);
    // Row 2 of each head: one +inf key. Row 5: three, in different tiles. Row 7: one, all others -inf.
    for (int64_t h = 0; h < 3; ++h) {
      double* rows = c.x.bias_tensor.data() + h * c.problem.bias.head;
      rows[2 * 70 + 33] = INFINITY;
      rows[5 * 70 + 1] = rows[5 * 70 + 40] = rows[5 * 70 + 69] = INFINITY;
      std::fill_n(rows + 7 * 70, 70, -INFINITY);
      rows[7 * 70 + 64] = INFINITY;
    }
    Expected expected(c, false);
    on_every_isa([&] {
      Library library(c, {}, 1);
      ASSERT_TRUE(library.forward().ok());
      ASSERT_TRUE(library.weights().ok());
      // The log-sum-exp of +inf may be any number that no finite score can reach.
      for (size_t n = 0; n < library.results.lse.size(); ++n)
        if (expected.truth.lse[n] == INFINITY && library.results.lse[n] > 1e37f) library.results.lse[n] = INFINITY;
      expected.compare_results(library.results, true);
      ASSERT_TRUE(library.backward().ok());
      for (const auto& [name, values] : library.grad.named())
        for (float value : *values) ASSERT_TRUE(std::isfinite(value)) << "d_" << name;
    });
  }
}

}  // namespace
}  // namespace heed::kernels::test
