#include "heed/text/graphemes.h"

#include <string>

#include <gtest/gtest.h>

namespace heed::text {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Graphemes, AMarkStaysOnItsLetter) {
  EXPECT_EQ(graphemes_of(""), Parts{});
  EXPECT_EQ(graphemes_of("abc"), (Parts{"a", "b", "c"}));
  EXPECT_EQ(graphemes_of("e\u0301a"), (Parts{"e\u0301", "a"}));
  EXPECT_EQ(graphemes_of("\u0915\u093f\u0915"), (Parts{"\u0915\u093f", "\u0915"}));
  EXPECT_EQ(graphemes_of("\U0001F44D\U0001F3FF!"), (Parts{"\U0001F44D\U0001F3FF", "!"}));
  EXPECT_EQ(graphemes_of("\u05e9\u05b8\u05dc"), (Parts{"\u05e9\u05b8", "\u05dc"}));
}

TEST(Graphemes, BytesThatAreNoTextAreKept) {
  for (const std::string text : {"a\xff\xfe", "\xe4", "e\u0301\x80z", "\xed\xa0\x80"}) {
    std::string all;
    for (const std::string_view part : graphemes_of(text)) all += part;
    EXPECT_EQ(all, text);
  }
}

}  // namespace
}  // namespace heed::text
