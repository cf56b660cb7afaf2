// slow: 6 s
// Sizes, layouts, groups of heads and ragged batches: nothing that matters to the mathematics may matter to the result.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/combinations.h"
#include "tests/kernels/expect.h"

namespace heed::kernels::test {
namespace {

constexpr int64_t kLengths[] = {1, 7, 63, 65, 257};
constexpr int64_t kWidths[] = {1, 3, 16, 33, 64, 80};

// Every pair of lengths, with widths that walk through all pairs of widths.
TEST(Shapes, OddLengthsAndWidths) {
  int64_t n = 0;
  for (int64_t tq : kLengths)
    for (int64_t tk : kLengths) {
      const int64_t d = kWidths[n % 6], dv = kWidths[(n * 5 + n / 6 + 2) % 6];
      ++n;
      SCOPED_TRACE(testing::Message() << "Tq " << tq << ", Tk " << tk << ", D " << d << ", Dv " << dv);
      for (const bool additive : {false, true}) {
        Case c({.batch = 1, .heads = 1, .queries = tq, .keys = tk, .dim = d, .value_dim = dv});
        if (additive) c.with_tanh_sum();
        c.problem.region.causal = n % 2 == 0;
        c.problem.region.align = Align::bottom_right;
        c.fill(n);
        expect_like_reference(c);
      }
    }
}

TEST(Shapes, EveryWidthPair) {
  for (int64_t d : kWidths)
    for (int64_t dv : kWidths) {
      SCOPED_TRACE(testing::Message() << "D " << d << ", Dv " << dv);
      Case c({.batch = 1, .heads = 2, .queries = 9, .keys = 21, .dim = d, .value_dim = dv});
      c.fill(d * 100 + dv);
      expect_like_reference(c);
      if (d == dv) expect_like_reference(Case(c.shape()).with_tanh_sum().fill(d));
      if (d == dv) expect_like_reference(Case(c.shape()).with_mlp(MlpActivation::tanh, {d + 1, 5}).fill(d));
    }
}

class OddShapes : public testing::TestWithParam<Part> {};

// Each normaliser on one query, on one key, and on a shape just past a power of two.
TEST_P(OddShapes, EachNormaliser) {
  for (const auto& [tq, tk] : {std::pair{1, 1}, {1, 257}, {65, 1}, {7, 63}, {63, 65}, {3, 1030}}) {
    SCOPED_TRACE(testing::Message() << "Tq " << tq << ", Tk " << tk);
    Case c({.batch = 1, .heads = 2, .queries = tq, .keys = tk, .dim = 5, .value_dim = 7});
    GetParam().apply(c);
    ASSERT_TRUE(fill_smooth(c, 3, 1e-6));
    expect_like_reference(c, {.weights = true});
  }
}

INSTANTIATE_TEST_SUITE_P(Normalisers, OddShapes, testing::ValuesIn(all_normalisers()),
                         [](const auto& info) { return info.param.name; });

TEST(Shapes, GroupedAndMultiQueryHeads) {
  for (int64_t kv_heads : {1, 2, 3, 6}) {
    SCOPED_TRACE(testing::Message() << "kv_heads " << kv_heads);
    for (int64_t tq : {1, 33}) {
      Case c({.batch = 2, .heads = 6, .kv_heads = kv_heads, .queries = tq, .keys = 41, .dim = 9, .value_dim = 6});
      c.with_alibi();
      c.problem.region.align = Align::bottom_right;
      c.problem.region.causal = true;
      expect_like_reference(c.fill(1));
      expect_like_reference(Case(c.shape()).with_tanh_sum(true).fill(2));
    }
  }
}

TEST(Shapes, AnyStrides) {
  const Layout layouts[] = {
      {.heads_inside = true}, {.col = 2}, {.row_gap = 3}, {.heads_inside = true, .col = 3, .row_gap = 1}};
  for (const Layout& layout : layouts)
    for (int64_t tq : {1, 30})
      for (const bool ragged : {false, true}) {
        SCOPED_TRACE(testing::Message() << "heads_inside " << layout.heads_inside << ", col " << layout.col
                                        << ", ragged " << ragged << ", Tq " << tq);
        Case c({.batch = 2, .heads = 4, .kv_heads = 2, .queries = tq, .keys = 40, .dim = 17, .value_dim = 9});
        if (ragged) c.with_ragged({tq, 5, 1}, {11, 40, 2});
        Case additive = c;
        expect_like_reference(c.fill(4), {.weights = true, .layout = layout});
        expect_like_reference(additive.with_tanh_sum().fill(5), {.layout = layout});
      }
}

class RaggedShapes : public testing::TestWithParam<std::tuple<Part, Part>> {};

TEST_P(RaggedShapes, BothSidesWithEmptySequences) {
  Case c({.heads = 2, .kv_heads = 1, .dim = 6, .value_dim = 5});
  c.with_ragged({0, 17, 1, 4, 70, 3}, {5, 9, 0, 33, 71, 1});
  std::get<0>(GetParam()).apply(c);
  std::get<1>(GetParam()).apply(c);
  c.with_guide(0.3f).with_relative(4, true);
  c.problem.region.align = Align::bottom_right;
  ASSERT_TRUE(fill_smooth(c, 9, 1e-6));
  expect_like_reference(c, {.weights = true});
}

const std::vector<Part> kRaggedRegions = {
    {"global", [](Case&) {}},
    {"causal", [](Case& c) { c.problem.region.causal = true; }},
    {"window", [](Case& c) { c.problem.region.window_left = 3, c.problem.region.window_right = 2; }},
    {"documents", [](Case& c) { c.with_documents(2); }},
    {"mask", [](Case& c) { c.with_mask(MaskKind::bits, true, true); }},
    {"tensor", [](Case& c) { c.with_tensor(true, true, true, true); }},
    {"centre", [](Case& c) { c.with_centre(6.3f, 3.0f); }},
};
INSTANTIATE_TEST_SUITE_P(All, RaggedShapes,
                         testing::Combine(testing::ValuesIn(all_normalisers()), testing::ValuesIn(kRaggedRegions)),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_x_" + std::get<1>(info.param).name;
                         });

TEST(Shapes, RaggedOnOneSide) {
  Case queries({.heads = 2, .keys = 13, .dim = 4, .value_dim = 3});
  expect_like_reference(queries.with_ragged({3, 0, 20}, {}).fill(1));
  Case keys({.heads = 2, .queries = 13, .dim = 4, .value_dim = 3});
  expect_like_reference(keys.with_ragged({}, {3, 0, 20}).fill(2));
}

TEST(Shapes, NothingToDo) {
  for (const auto& [batch, tq, tk] : {std::tuple{2, 0, 5}, {2, 5, 0}, {2, 0, 0}, {0, 5, 5}})
    for (const Part& score : all_scores())
      for (const Part& normaliser : all_normalisers()) {
        SCOPED_TRACE(testing::Message() << score.name << " " << normaliser.name << " B " << batch << " Tq " << tq
                                        << " Tk " << tk);
        Case c({.batch = batch, .heads = 2, .queries = tq, .keys = tk, .dim = 3, .value_dim = 4});
        normaliser.apply(c);
        score.apply(c);
        if (c.x.bias_tensor.empty() && c.problem.score.kind == ScoreKind::none) continue;  // a bias of no elements
        expect_like_reference(c.fill(1));
      }
}

// Every row hidden, in each way a row can be hidden: output, weights and gradients are zeros.
TEST(Shapes, FullyMaskedRows) {
  const std::vector<Part> ways = {
      {"mask", [](Case& c) { c.with_mask(MaskKind::bytes, false, false); }},
      {"key_lengths",
       [](Case& c) {
         c.with_key_lengths({0, 0});
       }},
      {"query_lengths",
       [](Case& c) {
         c.with_query_lengths({0, 0});
       }},
      {"causal", [](Case& c) { c.problem.region = {.align = Align::offset, .query_offset = -1000, .causal = true}; }},
      {"window", [](Case& c) { c.problem.region = {.align = Align::offset, .query_offset = 1000, .window_left = 3}; }},
      {"bias", [](Case& c) { c.with_tensor(false, false, false, true); }},
  };
  for (const Part& way : ways)
    for (const Part& score : all_scores())
      for (const Part& normaliser : all_normalisers()) {
        if (way.name == "bias" && score.name == "none") continue;  // two bias tensors
        SCOPED_TRACE(way.name + " " + score.name + " " + normaliser.name);
        Case c({.batch = 2, .heads = 2, .queries = 9, .keys = 20, .dim = 6, .value_dim = 5});
        score.apply(c);
        normaliser.apply(c);
        way.apply(c);
        c.with_guide(0.3f).fill(1);
        c.mask.assign(c.mask.size(), 0);
        if (way.name == "bias") c.x.bias_tensor.assign(c.x.bias_tensor.size(), -INFINITY);
        on_every_isa([&] {
          Library library(c, {}, 1);
          ASSERT_TRUE(library.forward().ok());
          ASSERT_TRUE(library.backward().ok());
          ASSERT_TRUE(library.weights().ok());
          for (float value : library.results.out) ASSERT_EQ(value, 0.0f);
          for (float value : library.results.weights) ASSERT_EQ(value, 0.0f);
          for (float value : library.results.lse) ASSERT_EQ(value, -INFINITY);
          for (int32_t choice : library.results.choice) ASSERT_EQ(choice, -1);
          for (float value : library.results.guide_cost) ASSERT_EQ(value, 0.0f);
          for (size_t n = 0; n < library.grad.column_lse.size(); ++n) {  // a state that goes through untouched
            float& value = library.grad.column_lse[n];
            ASSERT_EQ(value, c.x.column_lse[n] == -INFINITY ? 0.0f : static_cast<float>(c.up.d_column_lse[n]));
            value = 0.0f;
          }
          for (const auto& [name, values] : library.grad.named())
            for (float value : *values) ASSERT_EQ(value, 0.0f) << "d_" << name;
        });
      }
}

}  // namespace
}  // namespace heed::kernels::test
