#include "heed/text/visible.h"

#include <gtest/gtest.h>

namespace heed::text {
namespace {

using namespace std::string_literals;

TEST(Visible, WhatControlsATerminal) {
  EXPECT_EQ(visible("plain, \u00e4 \u4e2d \U0001F468\u200d\U0001F469 \u05e9\ttab\n"),
            "plain, \u00e4 \u4e2d \U0001F468\u200d\U0001F469 \u05e9\ttab\n");
  EXPECT_EQ(visible("a\x1b[2Jb\rc\0d\x7f"s), "a\\x1b[2Jb\\x0dc\\x00d\\u007f");
  EXPECT_EQ(visible("\u0080\u009b31m\u009f\u00a0"), "\\u0080\\u009b31m\\u009f\u00a0");
  EXPECT_EQ(visible("\u202a\u202e\u2066\u2069\u2065\u200e"), "\\u202a\\u202e\\u2066\\u2069\u2065\u200e");
  EXPECT_EQ(visible("\xff\x9b"
                    "a\xe4\xbd"),
            "\\xff\\x9ba\\xe4\\xbd");
  EXPECT_EQ(visible("\xed\xa0\x80\xc0\xaf"), "\\xed\\xa0\\x80\\xc0\\xaf");
  EXPECT_EQ(visible(""), "");
}

}  // namespace
}  // namespace heed::text
