#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "heed/text/tokeniser.h"
#include "tests/base/folder.h"

namespace heed::text {
namespace {

/// Sentences of made-up words, the same for everybody.
const std::vector<std::string>& corpus() {
  static const std::vector<std::string> all = [] {
    const std::vector<std::string> parts = {"ba", "ko", "lin", "ster", "u", "\u00E4n", "gra", "te", "mi", "ru"};
    Random random(3);
    std::vector<std::string> words, sentences;
    for (int i = 0; i < 200; ++i) {
      words.emplace_back();
      for (uint64_t k = 2 + random.below(3); k > 0; --k) words.back() += parts[random.below(parts.size())];
    }
    for (int i = 0; i < 1000; ++i) {
      sentences.emplace_back();
      for (uint64_t k = 3 + random.below(8); k > 0; --k) sentences.back() += words[random.below(words.size())] + " ";
      sentences.back().back() = '.';
    }
    return sentences;
  }();
  return all;
}

std::shared_ptr<const Tokeniser> train(TokeniserOptions options) {
  options.kind = "sentencepiece";
  const std::vector<std::string_view> sentences(corpus().begin(), corpus().end());
  return Tokeniser::train(sentences, options);
}

class Model : public testing::TestWithParam<std::string> {};

TEST_P(Model, EveryTextComesBack) {
  const auto t = train({.size = 150, .model = GetParam(), .coverage = 1.0});
  EXPECT_EQ(t->size(), 150);
  for (const auto& sentence : corpus()) ASSERT_EQ(t->decode(t->encode(sentence)), sentence);
  for (const char* text : {"", " ", "  ba  ko ", "ba", "kolinster", "bakolinster.gra"})
    EXPECT_EQ(t->decode(t->encode(text)), text);
}

TEST_P(Model, PiecesAreShorterThanCharacters) {
  const auto t = train({.size = 150, .model = GetParam()});
  size_t pieces = 0, bytes = 0;
  for (const auto& sentence : corpus()) {
    pieces += t->encode(sentence).size();
    bytes += sentence.size();
  }
  EXPECT_LT(2 * pieces, bytes);
}

TEST_P(Model, UnknownCharacters) {
  const auto t = train({.size = 100, .model = GetParam()});
  const auto ids = t->encode("ba \u4E2D ko");
  EXPECT_EQ(std::count(ids.begin(), ids.end(), kUnknown), 1);
  EXPECT_EQ(t->decode(ids), "ba \u2047 ko");
  // The names of special tokens are text like any other.
  for (const int32_t id : t->encode("<s> ba </s>")) EXPECT_TRUE(id != kStart && id != kEnd);
}

TEST_P(Model, ASmallCorpusGetsASmallVocabulary) {
  const std::vector<std::string_view> sentences = {"ab ab ab", "abc"};
  const auto t = Tokeniser::train(sentences, {.kind = "sentencepiece", .size = 8000, .model = GetParam()});
  EXPECT_LT(t->size(), 20);
  EXPECT_EQ(t->decode(t->encode("abc ab")), "abc ab");
}

TEST_P(Model, TheSampleFollowsTheSeed) {
  const auto contents = [](uint64_t seed) {
    return train({.size = 60, .model = GetParam(), .max_sentences = 50, .seed = seed})->contents();
  };
  EXPECT_EQ(contents(1), contents(1));
  EXPECT_NE(contents(1), contents(2));
}

INSTANTIATE_TEST_SUITE_P(SentencePiece, Model, testing::Values("unigram", "bpe"),
                         [](const auto& info) { return info.param; });

TEST(SentencePiece, Normalisation) {
  const auto t = train({.size = 100, .normalisation = "nfkc"});
  EXPECT_EQ(t->decode(t->encode("\uFF42\uFF41  ko")), "ba ko");  // full-width letters and a doubled blank
}

TEST(SentencePiece, Mistakes) {
  expect_part(error_of([] { train({.model = "unigran"}); }), "did you mean 'unigram'?");
  expect_part(error_of([] { train({.normalisation = "nfk"}); }), "did you mean 'nfkc'?");
  expect_part(error_of([] { train({.coverage = 0.0}); }), "coverage: must be in (0, 1], but is 0");
  expect_part(error_of([] { train({.max_sentences = 0}); }), "max_sentences");
  const std::string few = error_of([] { train({.size = 5}); });
  expect_part(few,
              "SentencePiece cannot learn 5 pieces from 1000 sentences: their characters alone, and <unk>, <s> and");
  for (const char* inside : {".cc(", "--character_coverage", "vocab_size"})
    EXPECT_EQ(few.find(inside), std::string::npos) << few;
  const std::vector<std::string_view> none, blank = {"", " "};
  const TokeniserOptions options{.kind = "sentencepiece"};
  expect_part(error_of([&] { Tokeniser::train(none, options); }), "nothing to learn from: 0 sentences");
  expect_part(error_of([&] { Tokeniser::train(blank, options); }), "nothing to learn from: 2 sentences");
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, what.size(), by);
}

// They would end the line of an output, or command a terminal.
TEST(SentencePiece, NoControlCharacters) {
  const std::vector<std::string_view> sentences = {"ab\x1B[2Jab", "ab\rab", "\u0085 ab", "ab ba ab"};
  const auto t = Tokeniser::train(sentences, {.kind = "sentencepiece"});
  EXPECT_EQ(t->decode(t->encode("ab\x1B")), "ab\u2047");
  // A piece, and what stands for what is unknown, of the same length in the file.
  const std::string bad_piece = replaced(t->contents(), "\x0A\x01[", "\x0A\x01\x1B");
  expect_part(error_of([&] { Tokeniser::parse("sentencepiece", bad_piece, "m.model"); }), "holds a control character");
  const auto bad = Tokeniser::parse("sentencepiece", replaced(t->contents(), "\u2047", "\x1B\n\r"), "m.model");
  EXPECT_EQ(bad->decode(std::vector<int32_t>{kUnknown}), "\u2047\u2047\u2047");
}

TEST(SentencePiece, BrokenModels) {
  const auto error = [](std::string_view contents) {
    return error_of([&] { Tokeniser::parse("sentencepiece", contents, "m.model"); });
  };
  expect_part(error("this is no model"), "m.model: this is not a SentencePiece model");
  expect_part(error(""), "m.model: this is not a SentencePiece model");
  const std::string good = train({.size = 100})->contents();
  std::string zero = good;
  zero[good.find("\u2581")] = '\0';  // a piece that ends where it begins
  expect_part(error(zero), "m.model: this is not a SentencePiece model");
  for (size_t n = 1; n < good.size(); n += 37) {
    // What is cut off at the end of a piece is a smaller model; it must be refused or usable, nothing else.
    try {
      const auto t = Tokeniser::parse("sentencepiece", good.substr(0, n), "m.model");
      t->decode(t->encode("ba ko"));
    } catch (const Error&) {
      continue;
    }
  }
}

/// A model that another program made may have control pieces: here <pad>, appended as one more piece of the file.
TEST(SentencePiece, ControlPiecesAreNeverWritten) {
  const std::string more = "\x0A\x09\x0A\x05<pad>\x18\x03";
  const auto t = Tokeniser::parse("sentencepiece", train({.size = 100})->contents() + more, "m.model");
  const int32_t pad = t->size() - 1;
  ASSERT_EQ(t->token(pad), "<pad>");
  EXPECT_EQ(t->never_written(), (std::vector<int32_t>{kUnknown, kStart, pad}));
}

}  // namespace
}  // namespace heed::text
