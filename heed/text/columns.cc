#include "heed/text/columns.h"

#include <unicode/ubidi.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>

#include "heed/text/graphemes.h"

namespace heed::text {

namespace {

size_t columns_of_character(UChar32 c) {
  const int syllable = u_getIntPropertyValue(c, UCHAR_HANGUL_SYLLABLE_TYPE);
  if (syllable == U_HST_VOWEL_JAMO || syllable == U_HST_TRAILING_JAMO) return 0;  // part of the square before it
  switch (u_charType(c)) {
    case U_NON_SPACING_MARK:
    case U_ENCLOSING_MARK:
    case U_FORMAT_CHAR:
    case U_CONTROL_CHAR:
      return 0;
    default:
      break;
  }
  const int width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_FULLWIDTH || width == U_EA_WIDE ? 2 : 1;
}

icu::UnicodeString unicode(std::string_view text) {
  return icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
}

/// Of a letter as a reader sees it. Several emoji that are joined (a family, a skin colour) are one picture.
size_t columns_of_letter(std::string_view letter) {
  constexpr UChar32 kAsPicture = 0xfe0f;  // the character before it is shown as an emoji
  const icu::UnicodeString all = unicode(letter);
  size_t sum = 0, widest = 0;
  bool is_emoji = false;
  for (int32_t i = 0; i < all.length(); i = all.moveIndex32(i, 1)) {
    const UChar32 c = all.char32At(i);
    const size_t columns = c == kAsPicture && is_emoji ? 2 : columns_of_character(c);
    is_emoji |= u_hasBinaryProperty(c, UCHAR_EXTENDED_PICTOGRAPHIC) != 0;
    sum += columns;
    widest = std::max(widest, columns);
  }
  return is_emoji ? widest : sum;
}

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

size_t columns_of(std::string_view text) {
  if (is_plain(text)) return text.size();
  size_t columns = 0;
  for (const std::string_view letter : graphemes_of(text)) columns += columns_of_letter(letter);
  return columns;
}

std::string cut_to(std::string_view text, size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  std::string kept;
  size_t used = 1;  // the …
  for (const std::string_view letter : graphemes_of(text)) {
    used += columns_of_letter(letter);
    if (used > columns) break;
    kept += letter;
  }
  return kept + "…";
}

bool runs_right_to_left(std::string_view text) {
  const icu::UnicodeString all = unicode(text);
  return ubidi_getBaseDirection(all.getBuffer(), all.length()) == UBIDI_RTL;
}

}  // namespace heed::text
