#include "heed/text/tokeniser.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/text/unicode_form.h"
#include "tests/base/folder.h"

namespace heed::text {
namespace {

std::shared_ptr<const Tokeniser> train(const std::vector<std::string_view>& sentences,
                                       const TokeniserOptions& options) {
  return Tokeniser::train(sentences, options);
}

TEST(Characters, ThereAndBack) {
  const auto t = train({"na\u00EFve caf\u00E9 ", " \u4E2D\u6587\U0001F600"}, {.kind = "characters"});
  for (const char* text : {"", "caf\u00E9", " n  a ", "\u4E2D\U0001F600", "vf"}) {
    const auto ids = t->encode(text);
    EXPECT_EQ(t->decode(ids), text);
    for (const int32_t id : ids) EXPECT_GE(id, kSpecials);
  }
  EXPECT_EQ(t->encode("caf\u00E9").size(), 4u);
  EXPECT_EQ(t->token(t->encode("\u4E2D")[0]), "\u4E2D");
  EXPECT_EQ(t->kind(), "characters");
}

TEST(Characters, UnknownOnesShow) {
  const auto t = train({"abc"}, {.kind = "characters"});
  const auto ids = t->encode("a\u00E9c");
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_EQ(ids[1], kUnknown);
  EXPECT_EQ(t->decode(ids), "a\u2047c");
}

TEST(Letters, SyllablesAndAccentsComeApartAndTogetherAgain) {
  const auto t = train({"\uD55C\uAE00 \u00E9"}, {.kind = "letters"});  // han-geul, e with an acute
  EXPECT_EQ(t->kind(), "letters");
  EXPECT_EQ(t->encode("\uD55C").size(), 3u);  // h, a, n
  EXPECT_EQ(t->token(t->encode("\uD55C")[0]), "\u1112");
  EXPECT_EQ(t->encode("e\u0301"), t->encode("\u00E9"));
  EXPECT_EQ(t->decode(t->encode("e\u0301 \uAE00")), "\u00E9 \uAE00");
  // A syllable that was never seen, of letters that were: heun.
  for (const int32_t id : t->encode("\uD754")) EXPECT_GE(id, kSpecials);
  EXPECT_EQ(t->decode(t->encode("\uD754")), "\uD754");
  EXPECT_EQ(t->encode("z"), std::vector<int32_t>{kUnknown});
}

TEST(Words, ThereAndBack) {
  const auto t = train({"gro@@ \u00DF ist  das", "\tTH IH S\n"}, {.kind = "words"});
  EXPECT_EQ(t->size(), 3 + 7);
  EXPECT_EQ(t->decode(t->encode("  das \t gro@@ \u00DF ")), "das gro@@ \u00DF");
  EXPECT_EQ(t->encode("das neue").back(), kUnknown);
  EXPECT_EQ(t->decode(t->encode("das neue TH")), "das \u2047 TH");
  EXPECT_TRUE(t->encode("").empty());
  EXPECT_TRUE(t->encode(" \t ").empty());
  EXPECT_EQ(t->decode({}), "");
}

TEST(Words, AWrittenEndIsNoEnd) {
  const auto t = train({"a </s> b <s>"}, {.kind = "words"});
  EXPECT_EQ(t->encode("a </s> <s> b"), (std::vector<int32_t>{3, kUnknown, kUnknown, 4}));
}

class EveryKind : public testing::TestWithParam<std::string> {
 protected:
  static std::shared_ptr<const Tokeniser> make() {
    return train({"the cat sat on the mat", "the dog sat on the log", "a cat and a dog"},
                 {.kind = GetParam(), .size = 30});
  }
};

TEST_P(EveryKind, SpecialTokens) {
  const auto t = make();
  EXPECT_EQ(t->token(kUnknown), "<unk>");
  EXPECT_EQ(t->token(kStart), "<s>");
  EXPECT_EQ(t->token(kEnd), "</s>");
  auto ids = t->encode("the cat");
  ids.insert(ids.begin(), kStart);
  ids.push_back(kEnd);
  EXPECT_EQ(t->decode(ids), "the cat");
  EXPECT_LE(t->size(), GetParam() == "bytes" ? kSpecials + 256 : 30);
}

TEST_P(EveryKind, TheTextOfEveryToken) {
  const auto t = make();
  for (const char* text : {"the cat", "", "the \u00df\u00e9 dog", "\u03a9"}) {
    const std::vector<std::string> tokens = t->cut(text);
    ASSERT_EQ(tokens.size(), t->encode(text).size()) << text;
    std::string all;
    for (const std::string& token : tokens) all += token;
    if (all.starts_with(' ')) all.erase(0, 1);
    EXPECT_EQ(GetParam() == "letters" ? composed(all) : all, text);
  }
  expect_part(error_of([&] { t->cut("ab\xFF"); }), "not valid UTF-8 at byte 3");
}

// Where any token of a text is missing, the others stay, and with it again the text is whole.
TEST_P(EveryKind, TextsWithGaps) {
  constexpr int32_t kGap = -1;
  const auto t = make();
  for (const char* text : {"the cat sat on the mat", "a dog"}) {
    const std::vector<int32_t> ids = t->encode(text);
    const std::vector<std::string> pieces = t->cut(text);
    for (size_t i = 0; i < ids.size(); ++i) {
      // A blank before a gap belongs to it, even where pieces are so few that blanks stand alone.
      if (GetParam() == "sentencepiece" && i > 0 && pieces[i - 1] == " ") continue;
      std::string with_gap;
      for (size_t j = 0; j < pieces.size(); ++j)
        with_gap +=
            j != i ? pieces[j] : std::string(pieces[i].starts_with(' ') && pieces[i] != " " ? " " : "") + "[MASK]";
      if (with_gap.starts_with(' ')) with_gap.erase(0, 1);
      std::vector<int32_t> lacking = ids;
      lacking[i] = kGap;
      EXPECT_EQ(t->encode_with_gaps(with_gap, kGap), lacking) << with_gap;
      EXPECT_EQ(t->fill_gaps(with_gap, std::vector<int32_t>{ids[i]}), text) << with_gap;
    }
  }
  EXPECT_EQ(t->encode_with_gaps("the cat", kGap), t->encode("the cat"));
  EXPECT_EQ(t->encode_with_gaps("[MASK]", kGap), (std::vector<int32_t>{kGap}));
  EXPECT_EQ(t->encode_with_gaps("[MASK][MASK]", kGap), (std::vector<int32_t>{kGap, kGap}));
  EXPECT_EQ(t->encode_with_gaps("", kGap), std::vector<int32_t>{});
  EXPECT_EQ(t->fill_gaps("the cat", {}), "the cat");
  expect_part(error_of([&] { t->fill_gaps("the [MASK]", {}); }), "0 tokens for 1 gaps");
  expect_part(error_of([&] { t->encode_with_gaps("ab\xFF", kGap); }), "not valid UTF-8 at byte 3");
}

TEST_P(EveryKind, WhatStandsForUnknownTokens) {
  const auto t = make();
  for (const char* text : {"the \u00df dog", "\u00df cat", "a \u00df"}) {
    const std::vector<int32_t> ids = t->encode(text);
    const std::vector<std::string> tokens = t->cut(text);
    std::vector<std::string> unknown;
    for (size_t i = 0; i < ids.size(); ++i)
      if (ids[i] == kUnknown) unknown.push_back(tokens[i]);
    ASSERT_EQ(unknown.size(), GetParam() == "bytes" ? 0u : 1u);
    EXPECT_EQ(t->decode(ids, unknown), text);  // what is copied is as it was
    if (unknown.empty()) continue;
    EXPECT_NE(t->decode(ids).find(kUnknownShown), std::string::npos);
    unknown.front().clear();
    EXPECT_EQ(t->decode(ids, unknown), t->decode(ids));
  }
  const std::vector<int32_t> two = {kUnknown, kUnknown};
  const std::vector<std::string> one = {" x"};
  EXPECT_NE(t->decode(two, one).find('x'), std::string::npos);
  EXPECT_NE(t->decode(two, one).find(kUnknownShown), std::string::npos);
  const std::vector<std::string> control = {"\x1b[31m", ""};
  EXPECT_EQ(t->decode(two, control).find('\x1b'), std::string::npos);  // no output commands a terminal
}

TEST_P(EveryKind, RefusesWhatIsNotThere) {
  const auto t = make();
  expect_part(error_of([&] { t->encode("ab\xFF"); }), "not valid UTF-8 at byte 3");
  const std::vector<int32_t> beyond = {3, t->size()}, negative = {-1};
  expect_part(error_of([&] { t->decode(beyond); }), "there is no token");
  expect_part(error_of([&] { t->decode(negative); }), "there is no token -1");
  expect_part(error_of([&] { t->token(t->size()); }), "there is no token");
  expect_part(error_of([&] {
                train({"fine", "a\x80"}, {.kind = GetParam()});
              }),
              "sentence 2 is not valid UTF-8 at byte 2");
}

TEST_P(EveryKind, SavedAndLoaded) {
  const Folder folder;
  const auto t = make();
  t->save(folder / "source");
  const auto again = Tokeniser::load(folder / "source");
  EXPECT_EQ(again->kind(), GetParam());
  ASSERT_EQ(again->size(), t->size());
  for (int32_t id = 0; id < t->size(); ++id) EXPECT_EQ(again->token(id), t->token(id));
  for (const char* text : {"the dog sat", "unseen words", ""}) EXPECT_EQ(again->encode(text), t->encode(text));
  EXPECT_EQ(again->contents(), t->contents());
}

TEST_P(EveryKind, TheSameSentencesGiveTheSame) { EXPECT_EQ(make()->contents(), make()->contents()); }

TEST_P(EveryKind, SavingReplacesAnotherKind) {
  const Folder folder;
  for (const std::string& other : Tokeniser::kinds()) {
    train({"the cat sat on the mat and the dog"}, {.kind = other, .size = 30})->save(folder / "t");
    make()->save(folder / "t");
    EXPECT_EQ(Tokeniser::load(folder / "t")->kind(), GetParam());
  }
}

TEST(Tokeniser, BytesKnowEveryText) {
  const auto t = train({"abc"}, {.kind = "bytes"});
  EXPECT_EQ(t->size(), kSpecials + 256);
  for (const char* text : {"a b", "\u4E2D\u6587\U0001F600", "", "na\u00EFve"}) {
    EXPECT_EQ(t->decode(t->encode(text)), text);
    EXPECT_EQ(t->encode(text).size(), std::string_view(text).size());
  }
  EXPECT_EQ(t->token(kSpecials + 'a'), "a");
  EXPECT_EQ(t->token(kSpecials + 0xE4), "<0xE4>");
  // What a model writes may end in the middle of a character, or be none.
  const std::vector<int32_t> broken = {kSpecials + 'a', kSpecials + 0xE4, kSpecials + 0xB8, kSpecials + 'b',
                                       kSpecials + 0xFF};
  EXPECT_EQ(t->decode(broken), "a\uFFFD\uFFFDb\uFFFD");
  expect_part(error_of([] { Tokeniser::parse("bytes", "byte", "source.vocab"); }), "source.vocab");
}

INSTANTIATE_TEST_SUITE_P(Tokeniser, EveryKind, testing::ValuesIn(Tokeniser::kinds_to_write()),
                         [](const auto& info) { return info.param; });

TEST(Tokeniser, Mistakes) {
  const Folder folder;
  expect_part(error_of([] { train({"a"}, {.kind = "caracters"}); }), "did you mean 'characters'?");
  expect_part(error_of([] { train({"a"}, {.kind = "words", .size = 3}); }),
              "a vocabulary must have more than 3 tokens");
  expect_part(error_of([&] { Tokeniser::load(folder / "source"); }), "source.characters.txt");
  folder.write("source.characters.txt", "<unk>\n<s>\n</s>\n");
  folder.write("source.words.txt", "<unk>\n<s>\n</s>\n");
  expect_part(error_of([&] { Tokeniser::load(folder / "source"); }), "there are two tokenisers");
  folder.write("target.words.txt", "a\n");
  expect_part(error_of([&] { Tokeniser::load(folder / "target"); }), "target.words.txt, line 1");
}

TEST(Tokeniser, OneForBothSides) {
  const auto t = train({"abc", "xyz"}, {.kind = "characters"});
  EXPECT_EQ(t->decode(t->encode("axbycz")), "axbycz");
}

// What was learned before keeps its ids; what is new comes after it, the most frequent first.
TEST(Tokeniser, Grows) {
  const std::vector<std::string_view> before = {"abcab"}, after = {"xaxzz", "yxz"};
  for (const char* kind : {"characters", "letters"}) {
    const auto known = Tokeniser::train(before, {.kind = kind});
    const auto grown = Tokeniser::grown(known, after, {.min_count = 2});
    ASSERT_EQ(grown->size(), known->size() + 2) << kind;
    EXPECT_EQ(grown->kind(), kind);
    for (int32_t id = 0; id < known->size(); ++id) EXPECT_EQ(grown->token(id), known->token(id));
    EXPECT_EQ(grown->token(known->size()), "x");
    EXPECT_EQ(grown->token(known->size() + 1), "z");
    EXPECT_EQ(grown->encode("y").front(), kUnknown);
    EXPECT_EQ(Tokeniser::grown(known, before, {}), known);  // it lacks nothing
    EXPECT_EQ(Tokeniser::grown(known, after, {.size = known->size() + 1})->size(), known->size() + 1);
  }
  const std::vector<std::string_view> words = {"one two", "two three"}, more = {"two four"};
  EXPECT_EQ(Tokeniser::grown(Tokeniser::train(words, {.kind = "words"}), more, {})->token(6), "four");
  const auto pieces = Tokeniser::train(words, {.kind = "sentencepiece", .size = 20});
  EXPECT_EQ(Tokeniser::grown(pieces, more, {}), pieces);
}

/// What no text is cut into, and what a model should not write without being allowed to.
TEST(Tokeniser, KnowsWhatIsNeverWritten) {
  const std::vector<std::string_view> lines = {"one two", "two three"};
  for (const char* kind : {"characters", "letters", "words", "sentencepiece"}) {
    SCOPED_TRACE(kind);
    const auto t = Tokeniser::train(lines, {.kind = kind, .size = 25});
    EXPECT_EQ(t->never_written(), (std::vector<int32_t>{kUnknown, kStart}));
    EXPECT_EQ(t->never_written({.unknown = true}), std::vector<int32_t>{kStart});
    EXPECT_EQ(t->never_written({.start = true}), std::vector<int32_t>{kUnknown});
    EXPECT_TRUE(t->never_written({.unknown = true, .start = true}).empty());
  }
  // Bytes: nothing is unknown, and UTF-8 does not have them all.
  const auto bytes = Tokeniser::train(lines, {.kind = "bytes"});
  const std::vector<int32_t> never = bytes->never_written({.unknown = true});
  EXPECT_EQ(never.size(), 2u + 13u);
  for (int32_t id = kSpecials; id < bytes->size(); ++id) {
    const int32_t byte = id - kSpecials;
    EXPECT_EQ(std::find(never.begin(), never.end(), id) != never.end(), byte == 0xC0 || byte == 0xC1 || byte >= 0xF5);
  }
  EXPECT_TRUE(std::is_sorted(never.begin(), never.end()));
}

}  // namespace
}  // namespace heed::text
