#include "heed/data/source.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/data/batch.h"

namespace heed::data {
namespace {

using Ids = std::vector<int32_t>;

template <class T>
std::vector<T> list(std::span<const T> part) {
  return {part.begin(), part.end()};
}

TEST(Sources, HaveThePartsThatWereAdded) {
  const Ids first = {4, 5, 6}, sentences = {2, 1}, second = {7}, question = {8};
  const std::vector<uint8_t> pixels(12, 200);
  const std::vector<float> frames = {0.5f, -1.0f, 2.0f, 3.0f};
  Sources sources;
  sources.add(first);
  EXPECT_EQ(sources.sentences.size(), 0) << "nobody has sentences yet";
  sources.add({.tokens = first, .sentences = sentences, .second = second});
  sources.add({.tokens = question, .pixels = pixels});
  sources.add({.numbers = frames});
  ASSERT_EQ(sources.size(), 4);
  EXPECT_EQ(list(sources[0].tokens), first);
  EXPECT_TRUE(sources[0].sentences.empty());
  EXPECT_TRUE(sources[0].pixels.empty());
  EXPECT_EQ(list(sources[1].sentences), sentences);
  EXPECT_EQ(list(sources[1].second), second);
  EXPECT_EQ(list(sources[2].tokens), question);
  EXPECT_EQ(list(sources[2].pixels), pixels);
  EXPECT_TRUE(sources[3].tokens.empty());
  EXPECT_EQ(list(sources[3].numbers), frames);
}

// Any of them, in any order, also twice, with what the other models of an ensemble read.
TEST(Sources, ArePackedByNumber) {
  Sources sources;
  sources.others.resize(1);
  for (int32_t i = 0; i < 4; ++i) {
    const Ids text(static_cast<size_t>(i), i);
    sources.add({.tokens = text, .second = text});
    sources.others[0].add(Ids{10 + i});
  }
  const std::vector<int64_t> some = {3, 1, 3};
  const Sources packed = sources.pack(some);
  ASSERT_EQ(packed.size(), 3);
  EXPECT_EQ(list(packed.tokens.values()), (Ids{3, 3, 3, 1, 3, 3, 3}));
  EXPECT_EQ(list(packed[1].second), Ids{1});
  EXPECT_EQ(packed.pixels.size(), 0);
  ASSERT_EQ(packed.others.size(), 1u);
  EXPECT_EQ(list(packed.others[0].tokens.values()), (Ids{13, 11, 13}));
  const std::vector<int64_t> beyond = {4};
  EXPECT_THROW(sources.pack(beyond), Error);
}

TEST(Targets, GoInBehindStartAndComeOutBeforeEnd) {
  Targets targets;
  targets.add_tokens(Ids{7, 8});
  targets.add_tokens(Ids{}, /*end=*/-1);
  EXPECT_EQ(targets.in, (Ids{text::kStart, 7, 8, text::kStart}));
  EXPECT_EQ(targets.out, (Ids{7, 8, text::kEnd, -1}));
  EXPECT_EQ(targets.size(), 2);
  EXPECT_EQ(targets.length(0), 3);
}

// A label for each word: the same batch, with a row for each token of its source.
TEST(Targets, MayBeLabelsOfEachToken) {
  Batch batch;
  batch.sources.add(Ids{4, 5, 6});
  batch.targets.add_labels(Ids{0, 1, 0});
  EXPECT_TRUE(batch.targets.in.empty());
  EXPECT_EQ(batch.targets.length(0), batch.sources.tokens.length(0));
  EXPECT_EQ(batch.prediction_offsets().back(), 3);
}

}  // namespace
}  // namespace heed::data
