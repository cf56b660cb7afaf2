#include "heed/task/language_model/text_pieces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "heed/base/error.h"
#include "heed/text/tokens.h"

namespace heed::task {
namespace {

std::shared_ptr<const TokenStore> stored(const std::vector<int32_t>& ids, int64_t in_memory = 1000) {
  auto tokens = std::make_shared<TokenStore>(in_memory);
  for (const int32_t id : ids) tokens->add(id);
  tokens->finish();
  return tokens;
}

/// Documents of 6, 1 and 10 tokens, with <s> and </s>.
std::vector<int32_t> three_documents() {
  std::vector<int32_t> ids;
  for (const int count : {6, 1, 10}) {
    ids.push_back(text::kStart);
    for (int i = 0; i < count; ++i) ids.push_back(static_cast<int32_t>(10 + ids.size()));
    ids.push_back(text::kEnd);
  }
  return ids;
}

/// (input, target) of all predictions of an epoch, in order.
std::vector<std::pair<int32_t, int32_t>> predicted(const TextPieces& pieces, const data::BatchOptions& options,
                                                   int64_t epoch) {
  std::vector<std::pair<int32_t, int32_t>> all;
  for (const data::Indices& batch : pieces.batches(options, epoch)) {
    const data::Batch p = pieces.pack(batch);
    EXPECT_EQ(p.targets.offsets.back(), std::ssize(p.targets.in));
    EXPECT_EQ(std::ssize(p.begins), p.targets.size());
    EXPECT_EQ(std::ssize(p.ends), p.targets.size());
    EXPECT_EQ(std::ssize(p.of_examples), std::ssize(batch) + 1);
    for (size_t i = 0; i < p.targets.in.size(); ++i)
      if (p.targets.out[i] >= 0) all.emplace_back(p.targets.in[i], p.targets.out[i]);
    int64_t expected = 0;
    for (const int64_t place : batch) expected += pieces.predictions(place);
    EXPECT_EQ(std::count_if(p.targets.out.begin(), p.targets.out.end(), [](int32_t t) { return t >= 0; }), expected);
  }
  return all;
}

TEST(TextPieces, EveryTokenIsPredictedOnceByTheOneBefore) {
  const std::vector<int32_t> ids = three_documents();
  std::multiset<std::pair<int32_t, int32_t>> expected;
  for (size_t i = 0; i + 1 < ids.size(); ++i)
    if (ids[i] != text::kEnd) expected.emplace(ids[i], ids[i + 1]);
  for (const bool carried : {false, true})
    for (const int64_t length : {1, 2, 3, 7, 100})
      for (const int64_t tokens : {1, 6, 1000}) {
        const TextPieces pieces(stored(ids), 0, {.length = length, .carried = carried});
        const auto all = predicted(pieces, {.max_tokens = tokens, .shuffle = false}, 0);
        EXPECT_EQ(std::multiset(all.begin(), all.end()), expected) << length << " " << tokens;
      }
}

TEST(TextPieces, APieceIsPartOfOneDocument) {
  const TextPieces pieces(stored(three_documents()), 0, {.length = 100});
  const std::vector<int64_t> all = {0};
  const data::Batch p = pieces.pack(all);
  EXPECT_EQ(p.targets.offsets, (std::vector<int64_t>{0, 7, 9, 20}));
  EXPECT_EQ(p.begins, (std::vector<int64_t>{-1, -1, -1}));
  EXPECT_EQ(p.targets.out[6], text::kEnd);
  EXPECT_EQ(p.targets.in[7], text::kStart);
}

TEST(TextPieces, StreamsGoOnWhereTheyWere) {
  std::vector<int32_t> ids(1001, 5);
  ids[0] = text::kStart;
  const TextPieces pieces(stored(ids), 0, {.length = 10, .carried = true});
  const std::vector<data::Indices> batches = pieces.batches({.max_tokens = 20, .seed = 1}, 0);
  ASSERT_GE(batches.size(), 49u);
  for (size_t t = 0; t + 1 < batches.size(); ++t) {
    ASSERT_EQ(batches[t].size(), 2u);
    const data::Batch p = pieces.pack(batches[t]);
    EXPECT_EQ(p.ends[0], batches[t][0] + 10);
    for (size_t b = 0; b < batches[t + 1].size(); ++b) EXPECT_EQ(batches[t + 1][b], p.ends[b]);
    if (t > 0) {
      EXPECT_EQ(p.begins, batches[t]);
    }
  }
}

// Batches that are computed beside each other, as those of an update, read streams of their own: all stretches but the
// first of each stream go on from what the update before left, and none needs anything of its own update.
TEST(TextPieces, StreamsAreDealtOutToBatchesSideBySide) {
  for (const size_t beside : {1, 2, 3, 5, 50})
    for (const size_t length : {101, 131, 1001}) {
      const TextPieces pieces(stored(std::vector<int32_t>(length, 5)), 0, {.length = 10, .carried = true});
      std::multiset<int64_t> all, expected;
      for (const data::Indices& batch : pieces.batches({.max_tokens = 20, .seed = 1}, 0))
        expected.insert(batch.begin(), batch.end());
      const std::vector<data::Indices> batches =
          pieces.batches({.max_tokens = 20, .seed = 1, .side_by_side = static_cast<int64_t>(beside)}, 0);
      std::set<int64_t> left, leaves;
      size_t go_on = 0;
      for (size_t i = 0; i < batches.size(); ++i) {
        if (i % beside == 0) left = std::exchange(leaves, {});
        EXPECT_FALSE(batches[i].empty());
        EXPECT_LE(batches[i].size(), 2u);
        all.insert(batches[i].begin(), batches[i].end());
        const data::Batch p = pieces.pack(batches[i]);
        for (const int64_t place : batches[i]) go_on += left.contains(place);
        for (const int64_t end : p.ends) leaves.insert(end);
      }
      EXPECT_EQ(all, expected) << beside << " " << length;
      const size_t streams = std::min(2 * beside, all.size());
      EXPECT_GE(go_on, all.size() - streams) << beside << " " << length;
    }
}

TEST(TextPieces, TheCutsAndTheOrderDifferFromEpochToEpoch) {
  std::vector<int32_t> ids(1001, 5);
  const TextPieces pieces(stored(ids), 0, {.length = 10});
  const data::BatchOptions options = {.max_tokens = 20, .seed = 3};
  EXPECT_EQ(pieces.batches(options, 1), pieces.batches(options, 1));
  EXPECT_NE(pieces.batches(options, 1), pieces.batches(options, 2));
}

TEST(TokenStore, BeyondItsLimitItIsAFile) {
  std::vector<int32_t> ids(300'000);
  std::iota(ids.begin(), ids.end(), 0);
  const auto memory = stored(ids, 1'000'000), disk = stored(ids, 1000);
  EXPECT_FALSE(memory->on_disk());
  EXPECT_TRUE(disk->on_disk());
  for (const auto& store : {memory, disk}) {
    EXPECT_EQ(store->size(), 300'000);
    EXPECT_TRUE(std::equal(ids.begin(), ids.end(), store->ids().begin(), store->ids().end()));
  }
}

TEST(TokenStore, AFolderThatDoesNotExistIsNamed) {
  TokenStore tokens(1, "/nowhere/at/all");
  const std::vector<int32_t> ids = {1, 2, 3};
  try {
    tokens.add(ids);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/at/all"), std::string::npos);
  }
}

}  // namespace
}  // namespace heed::task
