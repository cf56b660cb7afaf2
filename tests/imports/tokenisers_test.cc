// Tokenisers of other programs, beyond what importer_test.cc compares with models.
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/text/byte_bpe.h"
#include "heed/text/scored_bpe.h"
#include "heed/text/utf8.h"
#include "tests/imports/golden.h"

namespace heed::imports::test {
namespace {

using file::Json;
using text::ScoredPiece;
using text::Tokeniser;

std::vector<ScoredPiece> golden_pieces(const Json& golden) {
  std::vector<ScoredPiece> pieces;
  for (const Json& pair : elements(golden, "pieces")) {
    const auto& both = *pair.as<Json::Elements>();
    pieces.push_back({*both[0].as<std::string>(), static_cast<float>(number(both[1]))});
  }
  pieces.erase(pieces.begin(), pieces.begin() + text::kSpecials);
  return pieces;
}

TEST(ScoredBpe, CutsAsSentencePieceDoes) {
  const Json golden = golden_json("scored_bpe.json");
  const auto tokeniser = Tokeniser::parse(text::kScoredBpe, scored_bpe_contents(golden_pieces(golden)), "pieces");
  for (const Json& line : elements(golden, "texts")) {
    const std::string& whole = text(line, "text");
    const std::vector<int32_t> ids = tokeniser->encode(whole);
    EXPECT_EQ(std::vector<int64_t>(ids.begin(), ids.end()), integers(line, "ids")) << whole;
    const bool shows = text::find_control(whole) == std::string::npos;
    EXPECT_EQ(tokeniser->decode(ids), shows ? whole : tokeniser->decode(ids)) << whole;
  }
}

TEST(ScoredBpe, HoldsLineEnds) {
  std::vector<ScoredPiece> pieces = {{"<0x0A>", 0}, {" ", -1}, {"a", -2}, {" a", -1}};
  const auto tokeniser = Tokeniser::parse(text::kScoredBpe, scored_bpe_contents(pieces), "pieces");
  EXPECT_EQ(tokeniser->encode("a\na"), (std::vector<int32_t>{6, 3, 5}));
  EXPECT_EQ(tokeniser->decode(std::vector<int32_t>{6, 3, 5}), "a\na");
  EXPECT_EQ(tokeniser->encode("b"), (std::vector<int32_t>{4, text::kUnknown}));
  EXPECT_EQ(tokeniser->encode(""), std::vector<int32_t>{});
}

void expect_refused(const std::string& kind, const std::string& contents, const std::string& why) {
  try {
    Tokeniser::parse(kind, contents, "file");
    FAIL() << "it was read: " << contents;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    EXPECT_EQ(error.kind(), ErrorKind::file);
  }
}

TEST(ScoredBpe, RefusesWhatIsDamaged) {
  const std::string head = "scored_bpe\n<unk>\n<s>\n</s>\n";
  expect_refused("scored_bpe", "", "line 1");
  expect_refused("scored_bpe", "words\n", "expected 'scored_bpe'");
  expect_refused("scored_bpe", "scored_bpe\n<s>\n", "must be <unk>");
  expect_refused("scored_bpe", head + "a\n", "expected a score");
  expect_refused("scored_bpe", head + "nan a\n", "expected a score");
  expect_refused("scored_bpe", head + "1 \n", "the token is empty");
  expect_refused("scored_bpe", head + "1 a", "cut off");
}

std::string small_byte_bpe(const std::string& merges) {
  std::string contents = "byte_bpe gpt2 special=1 prefix=0 whole=0 nfc=0\n<unk>\n<s>\n</s>\n<|end|>\n";
  std::string signs;
  for (int byte = 0, next = 0x100; byte < 256; ++byte) {
    const int code = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD) ? byte : next++;
    if (code == '\\')
      contents += "\\\\\n";
    else if (code < 0x80)
      contents += std::string(1, static_cast<char>(code)) + "\n";
    else
      contents += {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F)), '\n'};
  }
  return contents + "ab\n\n" + merges;
}

TEST(ByteBpe, EveryByteComesBack) {
  const auto tokeniser = Tokeniser::parse("byte_bpe", small_byte_bpe("a b\n"), "file");
  for (const std::string whole : {"ab a b", "Zürich 👍 \t\n\nx", "  ", "<|end|>"})
    EXPECT_EQ(tokeniser->decode(tokeniser->encode(whole)), whole);
  EXPECT_EQ(tokeniser->encode("ab"), (std::vector<int32_t>{3 + 1 + 256}));
  // What ends a text is never cut from it.
  EXPECT_EQ(tokeniser->encode("<|end|>").size(), 7u);
  const std::vector<int32_t> never = tokeniser->never_written();
  EXPECT_TRUE(std::ranges::count(never, 3) == 1);
}

TEST(ByteBpe, RefusesWhatIsDamaged) {
  expect_refused("byte_bpe", "byte_bpe gpt3 special=0 prefix=0 whole=0 nfc=0\n", "no way 'gpt3'");
  expect_refused("byte_bpe", "byte_bpe gpt2 special=x\n", "expected 'special='");
  expect_refused("byte_bpe", "byte_bpe gpt2 special=0 prefix=0 whole=0 nfc=0\n<unk>\n<s>\n</s>\na\n\n", "the byte 0");
  expect_refused("byte_bpe", small_byte_bpe("a c\n"), "there is no token 'ac'");
  expect_refused("byte_bpe", small_byte_bpe("ab\n"), "two tokens with a blank");
  expect_refused("byte_bpe", "byte_bpe gpt2 special=9 prefix=0 whole=0 nfc=0\n<unk>\n<s>\n</s>\na\n\n",
                 "9 are special");
}

TEST(Tokenisers, OfOthersAreNotLearned) {
  for (const std::string& kind : Tokeniser::kinds_of_others()) {
    text::TokeniserOptions options;
    options.kind = kind;
    EXPECT_THROW(Tokeniser::train({}, options), Error) << kind;
  }
}

}  // namespace
}  // namespace heed::imports::test
