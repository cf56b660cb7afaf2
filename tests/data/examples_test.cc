#include "heed/data/examples.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/data/packed_pairs.h"
#include "heed/tensor/error.h"

namespace heed::data {
namespace {

using Ids = std::vector<int32_t>;
using Offsets = std::vector<int64_t>;

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
    EXPECT_EQ(s.words->decode(examples.source[i]), s.pairs.source[static_cast<size_t>(i)]);
    EXPECT_EQ(s.letters->decode(examples.target[i]), s.pairs.target[static_cast<size_t>(i)]);
  }
  EXPECT_EQ(examples.source.length(2), 4);
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

TEST(PackedPairs, InAndOut) {
  Setting s;
  const Examples examples = s.encode({});
  const std::vector<int64_t> indices = {3, 0};
  const PackedPairs batch = pack_pairs(examples, indices);
  const int32_t a = s.words->encode("a")[0], b = s.words->encode("b")[0], c = s.words->encode("c")[0];
  const Ids cba = s.letters->encode("cba");
  EXPECT_EQ(batch.size(), 2);
  EXPECT_EQ(batch.source, (Ids{c, a, b, c}));
  EXPECT_EQ(batch.source_offsets, (Offsets{0, 1, 4}));
  EXPECT_EQ(batch.target_in, (Ids{text::kStart, cba[0], text::kStart, cba[0], cba[1], cba[2]}));
  EXPECT_EQ(batch.target_out, (Ids{cba[0], text::kEnd, cba[0], cba[1], cba[2], text::kEnd}));
  EXPECT_EQ(batch.target_offsets, (Offsets{0, 2, 6}));
}

TEST(PackedPairs, SourcesAlone) {
  Setting s;
  const Examples examples = s.encode({});
  const std::vector<int64_t> indices = {2, 2, 1}, none, beyond = {4}, negative = {-1};
  const PackedPairs batch = pack_sources(examples.source, indices);
  EXPECT_EQ(batch.source_offsets, (Offsets{0, 4, 8, 9}));
  EXPECT_EQ(batch.target_offsets, (Offsets{0, 0, 0, 0}));
  EXPECT_TRUE(batch.target_in.empty());
  EXPECT_EQ(pack_pairs(examples, none).size(), 0);
  EXPECT_EQ(pack_pairs(examples, none).source_offsets, (Offsets{0}));
  EXPECT_THROW(pack_pairs(examples, beyond), Error);
  EXPECT_THROW(pack_pairs(examples, negative), Error);
}

}  // namespace
}  // namespace heed::data
