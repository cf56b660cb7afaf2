#include "heed/task/classification/labelled_texts.h"

#include <gtest/gtest.h>

namespace heed::task {
namespace {

TEST(LabelledTexts, ASetOfLabelsIsOnePrediction) {
  for (const bool several : {false, true}) {
    LabelledTexts texts(several);
    const std::vector<int32_t> tokens = {4, 5}, sentences = {1, 1}, one = {2}, two = {0, 1};
    texts.add({.source = {.tokens = tokens, .sentences = sentences}, .labels = one, .weight = 0.5f});
    texts.add({.source = {.tokens = tokens, .sentences = sentences}, .labels = several ? two : one});
    const std::vector<int64_t> all = {0, 1};
    const data::Batch batch = texts.pack(all);
    EXPECT_EQ(batch.targets.are_sets, several);
    EXPECT_EQ(batch.targets.out.size(), several ? 3u : 2u);
    EXPECT_EQ(batch.targets.weights, (std::vector<float>{0.5f, 1.0f}));
    EXPECT_EQ(std::vector<int64_t>(batch.prediction_offsets().begin(), batch.prediction_offsets().end()),
              (std::vector<int64_t>{0, 1, 2}));
    EXPECT_EQ(std::vector<int32_t>(batch.sources.sentences.values().begin(), batch.sources.sentences.values().end()),
              (std::vector<int32_t>{1, 1, 1, 1}));
  }
}

}  // namespace
}  // namespace heed::task
