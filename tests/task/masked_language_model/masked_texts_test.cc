#include "heed/task/masked_language_model/masked_texts.h"

#include <algorithm>
#include <map>
#include <set>

#include "heed/base/error.h"
#include "heed/model/embed/embed.h"
#include "heed/text/tokens.h"

namespace heed::task {
namespace {

constexpr int32_t kVocabulary = 50;

std::shared_ptr<const TokenStore> store_of(const std::vector<int32_t>& ids) {
  auto tokens = std::make_shared<TokenStore>();
  tokens->add(ids);
  tokens->finish();
  return tokens;
}

/// Documents of one line: <s>, tokens, </s>.
std::vector<int32_t> documents(int64_t count, int64_t length) {
  std::vector<int32_t> ids;
  for (int64_t d = 0; d < count; ++d) {
    ids.push_back(text::kStart);
    for (int64_t i = 0; i < length; ++i) ids.push_back(text::kSpecials + static_cast<int32_t>((d + i) % 40));
    ids.push_back(text::kEnd);
  }
  return ids;
}

/// The texts as they were: what is asked about is put back.
std::vector<std::vector<int32_t>> restored(const data::Batch& batch) {
  std::vector<std::vector<int32_t>> all;
  for (int64_t b = 0; b < batch.sources.size(); ++b) {
    std::vector<int32_t> text(batch.sources.tokens[b].begin(), batch.sources.tokens[b].end());
    for (int64_t r = batch.targets.offsets[b]; r < batch.targets.offsets[b + 1]; ++r)
      text[static_cast<size_t>(batch.targets.places[r])] = batch.targets.out[r];
    all.push_back(std::move(text));
  }
  return all;
}

data::Batch whole_epoch(const MaskedTexts& texts, int64_t epoch, bool shuffle = true) {
  data::Indices all;
  for (const data::Indices& some : texts.batches({.shuffle = shuffle, .seed = 3}, epoch))
    all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  return texts.pack(all);
}

TEST(MaskedTexts, SharesAreThoseThatWereAskedFor) {
  const MaskedTexts texts(store_of(documents(300, 40)), {.length = 100, .vocabulary = kVocabulary, .seed = 7});
  ASSERT_EQ(texts.size(), 300);
  const data::Batch batch = whole_epoch(texts, 0);
  EXPECT_EQ(std::ssize(batch.targets.out), 300 * 6);  // 15 % of 40
  int64_t masked = 0, kept = 0, others = 0;
  for (int64_t b = 0; b < batch.sources.size(); ++b) {
    std::set<int32_t> places;
    for (int64_t r = batch.targets.offsets[b]; r < batch.targets.offsets[b + 1]; ++r) {
      const int32_t reads = batch.sources.tokens[b][static_cast<size_t>(batch.targets.places[r])];
      EXPECT_TRUE(places.insert(batch.targets.places[r]).second) << "no token is asked about twice";
      EXPECT_TRUE(reads == embed::kBlank || (reads >= text::kSpecials && reads < kVocabulary));
      (reads == embed::kBlank ? masked : reads == batch.targets.out[r] ? kept : others) += 1;
    }
    // What is not asked about is as it was.
    const auto before = restored(batch)[static_cast<size_t>(b)];
    for (size_t i = 0; i < before.size(); ++i)
      EXPECT_EQ(before[i], text::kSpecials + (b + static_cast<int64_t>(i)) % 40);
    if (b > 20) break;
  }
  const auto all = static_cast<double>(std::ssize(batch.targets.out));
  masked = kept = others = 0;
  for (int64_t b = 0; b < batch.sources.size(); ++b)
    for (int64_t r = batch.targets.offsets[b]; r < batch.targets.offsets[b + 1]; ++r) {
      const int32_t reads = batch.sources.tokens[b][static_cast<size_t>(batch.targets.places[r])];
      (reads == embed::kBlank ? masked : reads == batch.targets.out[r] ? kept : others) += 1;
    }
  // Three standard deviations of 1800 draws.
  EXPECT_NEAR(static_cast<double>(masked) / all, 0.8, 0.029);
  EXPECT_NEAR(static_cast<double>(others) / all, 0.1, 0.022);
  EXPECT_NEAR(static_cast<double>(kept) / all, 0.1, 0.022);
}

TEST(MaskedTexts, MasksChangeWithTheEpochAndTheSeedAlone) {
  const auto store = store_of(documents(30, 20));
  const MaskedTextOptions options{.length = 100, .vocabulary = kVocabulary, .seed = 7};
  const MaskedTexts texts(store, options), again(store, options);
  const auto places = [&](const MaskedTexts& of, int64_t epoch) { return whole_epoch(of, epoch).targets.places; };
  EXPECT_EQ(places(texts, 0), places(again, 0));
  EXPECT_EQ(places(texts, 5), places(again, 5));
  EXPECT_NE(places(texts, 0), places(texts, 1));
  MaskedTextOptions other = options;
  other.seed = 8;
  EXPECT_NE(places(texts, 0), places(MaskedTexts(store, other), 0));
  EXPECT_EQ(restored(whole_epoch(texts, 0)), restored(whole_epoch(texts, 9)));
  // A text is masked the same in any batch.
  const std::vector<int64_t> one = {30 * 5 + 11};
  const data::Batch all = whole_epoch(texts, 5), single = texts.pack(one);
  EXPECT_EQ(single.sources.tokens.values().size(), 20u);
  const auto alone = single.sources.tokens[0], beside = all.sources.tokens[11];
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), beside.begin(), beside.end()));
  other = options;
  other.changes = false;
  const MaskedTexts fixed(store, other);
  EXPECT_EQ(places(fixed, 0), places(fixed, 4));
}

TEST(MaskedTexts, DocumentsAreCutIntoTextsOfNearlyEqualLength) {
  // <s> between the lines of a document stays, and is never asked about; unknown tokens neither.
  const std::vector<int32_t> ids = {1, 3, 4, 5, 1, 6, 7, 8, 9, 2, 1, 0, 2, 1, 2, 1, 10, 0, 2};
  const MaskedTexts texts(store_of(ids), {.length = 5, .masks = {.share = 1.0}, .vocabulary = kVocabulary});
  ASSERT_EQ(texts.size(), 3);  // two parts of the first; the second and third have nothing to ask about
  const data::Batch batch = whole_epoch(texts, 0, false);
  const auto before = restored(batch);
  EXPECT_EQ(before[0], (std::vector<int32_t>{3, 4, 5, 1}));
  EXPECT_EQ(before[1], (std::vector<int32_t>{6, 7, 8, 9}));
  EXPECT_EQ(before[2], (std::vector<int32_t>{10, 0}));
  EXPECT_EQ(batch.targets.out, (std::vector<int32_t>{3, 4, 5, 6, 7, 8, 9, 10}));
  for (int64_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(texts.predictions(i), batch.targets.length(i));
    EXPECT_EQ(texts.longest_sequence(i), std::ssize(before[static_cast<size_t>(i)]));
    EXPECT_EQ(texts.predictions(i + 3), texts.predictions(i)) << "of another epoch";
  }
  // At least one token of a short text.
  EXPECT_EQ(MaskedTexts(store_of({1, 3, 2}), {.vocabulary = kVocabulary}).predictions(0), 1);
}

}  // namespace
}  // namespace heed::task
