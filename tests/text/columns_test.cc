// The room that text takes, and its direction.
#include "heed/text/columns.h"

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

TEST(Columns, TextIsCutBetweenLetters) {
  EXPECT_EQ(cut_to("dog", 3), "dog");
  EXPECT_EQ(cut_to("doggy", 3), "do…");
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
