// The room that text takes, and its direction.
#include "heed/text/columns.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace heed::text {
namespace {

TEST(Columns, WideLettersTakeTwoAndMarksNone) {
  EXPECT_EQ(columns_of(""), 0u);
  EXPECT_EQ(columns_of("dog"), 3u);
  EXPECT_EQ(columns_of("北京"), 4u);
  EXPECT_EQ(columns_of("e\u0301"), 1u);
  EXPECT_EQ(columns_of("a\tb"), 2u);
}

TEST(Columns, EmojiThatAreJoinedAreOnePicture) {
  const std::string family = "\U0001F468\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466";
  EXPECT_EQ(columns_of(family), 2u);
  EXPECT_EQ(columns_of("a" + family + family), 5u);
  EXPECT_EQ(columns_of("\U0001F469\U0001F3FD"), 2u);  // a skin colour
  EXPECT_EQ(columns_of("\U0001F1E9\U0001F1EA"), 2u);  // a flag
  EXPECT_EQ(columns_of("\u2764\uFE0F"), 2u);          // a heart as an emoji, and as a letter
  EXPECT_EQ(columns_of("\u2764"), 1u);
  EXPECT_EQ(columns_of("\u1100\u1161\u11A8"), 2u);  // one Korean syllable, in three parts
  EXPECT_EQ(cut_to(family + family + family, 4), family + "…");
  EXPECT_EQ(cut_to(family + family, 4), family + family);
}

/// Whatever the text: a cut text is no wider than it may be, and a text that fits is not cut.
TEST(Columns, ACutTextFits) {
  std::vector<std::string> parts = {
      "a",      "W",      " ",      "e\u0301",          "\u0301",     "\u200D",       "北",
      "\u05E9", "\u202E", "\uFE0F", "\U0001F468\u200D", "\U0001F3FD", "\u1100\u1161", "\xED\xA0\x80",
      "\xFF",   "…",      "\n"};
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (size_t length = random() % 40; length > 0; --length) text += parts[random() % parts.size()];
    for (const size_t room : {0, 1, 2, 3, 7, 20, 100}) {
      const std::string cut = cut_to(text, room);
      EXPECT_LE(columns_of(cut), room) << text;
      if (columns_of(text) <= room) {
        EXPECT_EQ(cut, text);
      }
      EXPECT_EQ(cut_to(text, room), cut);
    }
  }
}

TEST(Columns, TextIsCutBetweenLetters) {
  EXPECT_EQ(cut_to("dog", 3), "dog");
  EXPECT_EQ(cut_to("doggy", 3), "do…");
  EXPECT_EQ(cut_to("doggy", 1), "…");
  EXPECT_EQ(cut_to("doggy", 0), "");
  EXPECT_EQ(cut_to("北京大学", 4), "北…");
  EXPECT_EQ(cut_to("e\u0301e\u0301e\u0301", 2), "e\u0301…");
}

TEST(Columns, TheFirstLetterWithADirectionDecides) {
  EXPECT_TRUE(runs_right_to_left("12 مرحبا dog"));
  EXPECT_TRUE(runs_right_to_left("שלום"));
  EXPECT_FALSE(runs_right_to_left("dog مرحبا"));
  EXPECT_FALSE(runs_right_to_left("12."));
  EXPECT_FALSE(runs_right_to_left(""));
}

}  // namespace
}  // namespace heed::text
