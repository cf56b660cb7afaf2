#include "heed/data/examples.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/data/batch.h"

namespace heed::data {
namespace {

using Ids = std::vector<int32_t>;
using Offsets = std::vector<int64_t>;

Ids ids_of(std::span<const int32_t> ids) { return {ids.begin(), ids.end()}; }

Pairs some_pairs(Report& report) {
  Pairs pairs;
  for (const auto& [source, target, line] : {std::tuple("a b c", "cba", 1), std::tuple("b", "bbbbbb", 2),
                                             std::tuple("a a a a", "a", 4), std::tuple("c", "c", 7)}) {
    pairs.add(source, target, line);
    report.keep();
  }
  return pairs;
}

struct Setting {
  Report report;
  Pairs pairs = some_pairs(report);
  std::shared_ptr<const text::Tokeniser> words =
      text::Tokeniser::train(sentences(pairs, Side::source), {.kind = "words"});
  std::shared_ptr<const text::Tokeniser> letters =
      text::Tokeniser::train(sentences(pairs, Side::target), {.kind = "characters"});

  Examples encode(const EncodeOptions& options) { return encode_pairs(pairs, {*words, *letters}, options, report); }
};

TEST(Examples, Encoded) {
  Setting s;
  const Examples examples = s.encode({});
  ASSERT_EQ(examples.size(), 4);
  EXPECT_EQ(examples.line, (Offsets{1, 2, 4, 7}));
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(s.words->decode(examples.source.tokens[i]), s.pairs.source[static_cast<size_t>(i)]);
    EXPECT_EQ(s.letters->decode(examples.target[i]), s.pairs.target[static_cast<size_t>(i)]);
  }
  EXPECT_EQ(examples.source.tokens.length(2), 4);
  EXPECT_EQ(s.report.kept(), 4);
}

TEST(Examples, TooLongInTokens) {
  Setting s;
  const Examples examples = s.encode({.max_source = 3, .max_target = 5});
  EXPECT_EQ(examples.line, (Offsets{1, 7}));
  EXPECT_EQ(examples.target.size(), 2);
  EXPECT_EQ(s.report.text(), "2 of 4 lines left out\n  2 too long: 2 (target, 6 tokens), 4 (source, 4 tokens)\n");
}

TEST(Examples, NoTokens) {
  Setting s;
  s.pairs.source[1] = std::string(1, ' ');
  const Examples examples = s.encode({});
  EXPECT_EQ(examples.line, (Offsets{1, 4, 7}));
  EXPECT_EQ(s.report.text(), "1 of 4 lines left out\n  1 an empty side: 2 (source, no tokens)\n");
}

TEST(Examples, PackedInAndOut) {
  Setting s;
  const Examples examples = s.encode({});
  const std::vector<int64_t> indices = {3, 0};
  const Batch batch = examples.pack(indices);
  const int32_t a = s.words->encode("a")[0], b = s.words->encode("b")[0], c = s.words->encode("c")[0];
  const Ids cba = s.letters->encode("cba");
  ASSERT_EQ(batch.sources.size(), 2);
  EXPECT_EQ(ids_of(batch.sources.tokens.values()), (Ids{c, a, b, c}));
  EXPECT_EQ(batch.sources.tokens.length(0), 1);
  EXPECT_EQ(batch.targets.in, (Ids{text::kStart, cba[0], text::kStart, cba[0], cba[1], cba[2]}));
  EXPECT_EQ(batch.targets.out, (Ids{cba[0], text::kEnd, cba[0], cba[1], cba[2], text::kEnd}));
  EXPECT_EQ(batch.targets.offsets, (Offsets{0, 2, 6}));
  EXPECT_EQ(batch.prediction_offsets().data(), batch.targets.offsets.data());
}

TEST(Examples, OnlyThoseThatThereAreArePacked) {
  Setting s;
  const Examples examples = s.encode({});
  const std::vector<int64_t> none, beyond = {4}, negative = {-1};
  EXPECT_EQ(examples.pack(none).sources.size(), 0);
  EXPECT_EQ(examples.pack(none).targets.offsets, (Offsets{0}));
  EXPECT_THROW(examples.pack(beyond), Error);
  EXPECT_THROW(examples.pack(negative), Error);
}

// A picture counts with the cells that a model makes of it.
TEST(Examples, PicturesAreMeasuredByTheirCells) {
  const std::vector<uint8_t> pixels(12, 7);
  Examples examples(/*cells=*/10);
  for (int i = 0; i < 4; ++i) {
    examples.source.add({.tokens = Ids{4, 5}, .pixels = pixels});
    examples.target.add(Ids{6});
  }
  const auto batches = examples.batches({.max_tokens = 24, .shuffle = false}, 0);
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(examples.pack(batches[0]).sources.pixels.size(), 2);
}

}  // namespace
}  // namespace heed::data
