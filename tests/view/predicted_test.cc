// The alignment of a search as an example: the sequences that belong to its rows and columns.
#include "heed/view/predicted.h"

#include <gtest/gtest.h>

#include "heed/view/draw.h"
#include "tests/base/folder.h"

namespace heed::view {
namespace {

predict::Prediction answer(std::vector<std::vector<float>> alignment) {
  return {.error = "",
          .source_tokens = {"it", "was", "good"},
          .unknown = {},
          .nbest = {{.text = "xy", .tokens = {"x", "y"}, .alignment = std::move(alignment)}}};
}

TEST(Predicted, TheAlignmentIsTheOnlyMap) {
  const Example example =
      example_of("it was good", answer({{0.5f, 0.5f, 0.0f}, {0.0f, 0.0f, 1.0f}}), {"target", "output", {"x", "y"}});
  ASSERT_EQ(example.maps.size(), 1u);
  EXPECT_EQ(example.main_map()->at(0, 1, 2), 1.0f);
  EXPECT_EQ(example.sequence("source").tokens.size(), 3u);
  EXPECT_EQ(example.output, "xy");
  EXPECT_TRUE(example.sentences.empty());
}

TEST(Predicted, PooledRowsShadeTheText) {
  const Example example =
      example_of("it was good", answer({{0.5f, 0.5f, 0.0f}, {0.0f, 0.0f, 1.0f}}), {"pooled", "", {"1", "2"}});
  ASSERT_EQ(example.sentences.size(), 1u);
  EXPECT_EQ(example.sentences[0].words[1].text, "was");
  EXPECT_FLOAT_EQ(example.sentences[0].words[1].weight, 0.25f);
  EXPECT_FLOAT_EQ(example.sentences[0].words[2].weight, 0.5f);
}

TEST(Predicted, AWordsWeightIsThatInItsSentence) {
  predict::Prediction prediction = answer({{0.1f, 0.3f, 0.6f}});
  prediction.sentence_tokens = {2, 1};
  prediction.nbest[0].sentence_weights = {0.4f, 0.6f};
  const Example example = example_of("it was. good", prediction, {"target", "label", {"xy"}});
  ASSERT_EQ(example.sentences.size(), 2u);
  EXPECT_FLOAT_EQ(example.sentences[0].words[1].weight, 0.75f);
  EXPECT_FLOAT_EQ(example.sentences[1].words[0].weight, 1.0f);
}

TEST(Predicted, WhatCannotBeDrawnIsSaid) {
  EXPECT_EQ(
      error_of([] { example_of("a", {.error = "too long", .source_tokens = {}, .unknown = {}, .nbest = {}}, {}); }),
      "too long");
  expect_part(error_of([] { example_of("a", answer({}), {}); }), "no alignment");
  expect_part(error_of([] { example_of("a", answer({{0.5f}}), {"target", "", {"x"}}); }), "1 weights for 3 tokens");
}

}  // namespace
}  // namespace heed::view
