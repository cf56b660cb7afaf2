#include "heed/text/metric/unicode.h"

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "heed/base/error.h"
#include "heed/text/icu_memory.h"
#include "heed/text/utf8.h"

namespace heed::metric {

namespace {

bool in_category(char32_t c, uint32_t categories) { return (U_GET_GC_MASK(static_cast<UChar32>(c)) & categories) != 0; }

}  // namespace

std::u32string code_points(std::string_view text) {
  std::u32string points;
  points.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    UChar32 c = 0;
    U8_NEXT_UNSAFE(text.data(), i, c);
    points.push_back(static_cast<char32_t>(c));
  }
  return points;
}

std::string lowered(const std::string& text) {
  std::string small;
  icu::StringByteSink<std::string> sink(&small, static_cast<int32_t>(text.size()));
  UErrorCode status = U_ZERO_ERROR;
  icu::CaseMap::utf8ToLower("", 0, icu::StringPiece(text), sink, nullptr, status);
  text::expect_icu_had_memory(status);
  expect(U_SUCCESS(status), "lower case: {}", u_errorName(status));
  return small;
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == U' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0x2028 || c == 0x2029 || in_category(c, U_GC_ZS_MASK);
}

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool is_punctuation(char32_t c) { return in_category(c, U_GC_P_MASK); }
bool is_symbol(char32_t c) { return in_category(c, U_GC_S_MASK); }
bool is_number(char32_t c) { return in_category(c, U_GC_N_MASK); }

std::u32string_view without_trailing_space(std::u32string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::u32string> split(std::u32string_view text) {
  std::vector<std::u32string> words;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && !is_space(text[i])) continue;
    if (i > begin) words.emplace_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return words;
}

std::vector<std::string_view> split_utf8(std::string_view text) {
  std::vector<std::string_view> words;
  size_t at = 0, begin = 0;
  const auto close = [&](size_t end) {
    if (end > begin) words.push_back(text.substr(begin, end - begin));
  };
  for (const std::string_view character : text::CodePoints(text)) {
    if (is_space(code_points(character).front())) {
      close(at);
      begin = at + character.size();
    }
    at += character.size();
  }
  close(text.size());
  return words;
}

}  // namespace heed::metric
