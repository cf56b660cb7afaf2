#include "heed/data/copied_words.h"

#include <gtest/gtest.h>

#include "heed/data/examples.h"
#include "tests/base/folder.h"

namespace heed::data {
namespace {

using Ids = std::vector<int32_t>;

std::shared_ptr<const text::Tokeniser> words_of(std::vector<std::string_view> lines, const char* kind = "words") {
  return text::Tokeniser::train(lines, {.kind = kind});
}

TEST(CopiedWords, BehindTheVocabulary) {
  const auto words = words_of({"a b c"});
  const int32_t size = words->size(), a = words->encode("a")[0], c = words->encode("c")[0];
  CopyReader reader(*words, *words);
  const std::string source = "a gimp c foo gimp";
  const CopiedWords copied = reader.read(source, words->encode(source));
  EXPECT_EQ(copied.ids, (Ids{a, size, c, size + 1, size}));
  EXPECT_EQ(copied.extra, (std::vector<std::string>{" gimp", " foo"}));
  EXPECT_EQ(reader.read("a c", words->encode("a c")).extra.size(), 0u);

  const Ids target = with_copied(words->encode("foo a bar gimp"), "foo a bar gimp", *words, copied.extra);
  EXPECT_EQ(target, (Ids{size + 1, a, text::kUnknown, size}));
  EXPECT_EQ(decode_copied(*words, target, copied.extra), "foo a ⁇ gimp");
  const std::vector<std::string> given = {" bar"};
  EXPECT_EQ(decode_copied(*words, target, copied.extra, given), "foo a bar gimp");
  EXPECT_EQ(spell_copied(*words, size + 1, copied.extra), "foo");
  EXPECT_EQ(spell_copied(*words, a, copied.extra), "a");
  expect_part(error_of([&] { decode_copied(*words, Ids{size + 2}, copied.extra); }),
              "and the source 2 words beside it");
}

TEST(CopiedWords, TwoVocabularies) {
  const auto source = words_of({"a b hello x"}), target = words_of({"b y hello"});
  CopyReader reader(*source, *target);
  const std::string line = "x hello z b";
  const CopiedWords copied = reader.read(line, source->encode(line));
  EXPECT_EQ(copied.ids, (Ids{target->size(), target->encode("hello")[0], target->size() + 1, target->encode("b")[0]}));
  EXPECT_EQ(copied.extra, (std::vector<std::string>{" x", " z"}));
}

/// A word of the source that is several tokens of the target cannot be copied at once.
TEST(CopiedWords, OtherTokens) {
  const auto source = words_of({"ab c"}), target = words_of({"a b c"}, "characters");
  CopyReader reader(*source, *target);
  const CopiedWords copied = reader.read("ab", source->encode("ab"));
  EXPECT_EQ(copied.ids, Ids{-1});
}

TEST(CopiedWords, Examples) {
  const auto words = words_of({"is the one"});
  Pairs pairs;
  pairs.add("the frobnicator is", "one frobnicator other", 1);
  pairs.add("is", "the", 2);
  Report report;
  const Examples plain = encode_pairs(pairs, {*words, *words}, {}, report);
  EXPECT_EQ(plain.source.copies.size(), 0);
  const Examples copied = encode_pairs(pairs, {*words, *words}, {.copies = true}, report);
  ASSERT_EQ(copied.source.copies.size(), 2);
  EXPECT_EQ(copied.target[0][1], words->size());
  EXPECT_EQ(copied.target[0][2], text::kUnknown);
  const int64_t second[] = {1};
  EXPECT_EQ(copied.pack(second).sources.copies.size(), 1);
  EXPECT_EQ(copied.pack(second).sources.copies[0][0], words->encode("is")[0]);
}

TEST(CopiedWords, StandIns) {
  const auto words = words_of({"a"});
  const Ids target = {words->size() + 1, words->encode("a")[0]};
  EXPECT_EQ(decode_copied(*words, target, stand_ins(*words, target)), "⁇2 a");
}

}  // namespace
}  // namespace heed::data
