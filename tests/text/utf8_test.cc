#include "heed/text/utf8.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace heed::text {
namespace {

constexpr size_t kValid = std::string_view::npos;

/// A code point as the definition of UTF-8 has it, also where it must not be encoded.
std::string encoded(uint32_t c) {
  const auto byte = [](uint32_t bits) { return static_cast<char>(bits); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), byte(0x80 | (c & 63))};
  if (c < 0x10000) return {byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 63)), byte(0x80 | (c & 63))};
  return {byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 63)), byte(0x80 | (c >> 6 & 63)), byte(0x80 | (c & 63))};
}

TEST(Utf8, EveryCodePoint) {
  for (uint32_t c = 0; c < 0x120000; ++c) {
    const bool valid = c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
    ASSERT_EQ(utf8_fault(encoded(c)), valid ? kValid : 0u) << std::hex << c;
  }
}

TEST(Utf8, EveryPairOfBytes) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string text = {static_cast<char>(a), static_cast<char>(b)};
      size_t expected = kValid;
      if (a < 0x80 && b >= 0x80)
        expected = 1;
      else if (a >= 0x80 && !(a >= 0xC2 && a <= 0xDF && b >= 0x80 && b <= 0xBF))
        expected = 0;
      ASSERT_EQ(utf8_fault(text), expected) << a << " " << b;
    }
  }
}

TEST(Utf8, OverlongForms) {
  for (const char* text : {"\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xF0\x80\x80\x80",
                           "\xF0\x8F\xBF\xBF", "\xF8\x88\x80\x80\x80", "\xFE", "\xFF"})
    EXPECT_EQ(utf8_fault(text), 0u);
}

TEST(Utf8, CutOffAnywhere) {
  const std::string text = "abcdefgh\u00E9\u4E2D\U0001F600";
  EXPECT_EQ(utf8_fault(text), kValid);
  const std::vector<size_t> begins = {8, 10, 13, 17};
  for (size_t n = 0; n <= text.size(); ++n) {
    size_t expected = kValid;
    for (size_t i = 0; i + 1 < begins.size(); ++i)
      if (n > begins[i] && n < begins[i + 1]) expected = begins[i];
    EXPECT_EQ(utf8_fault(text.substr(0, n)), expected) << n;
  }
}

TEST(Utf8, TheFaultIsFoundAtEveryPlace) {
  for (size_t before = 0; before < 40; ++before)
    EXPECT_EQ(utf8_fault(std::string(before, 'x') + "\x80" + "yyyyyyyyyyyy"), before);
}

TEST(Utf8, CodePoints) {
  const std::string text = "a\u00E9\u4E2D\U0001F600z";
  const CodePoints points(text);
  const std::vector<std::string> found(points.begin(), points.end());
  EXPECT_EQ(found, (std::vector<std::string>{"a", "\u00E9", "\u4E2D", "\U0001F600", "z"}));
  EXPECT_EQ(utf8_count(text), 5u);
  const CodePoints none("");
  EXPECT_EQ(none.begin(), none.end());
  EXPECT_EQ(utf8_count(""), 0u);
}

}  // namespace
}  // namespace heed::text
