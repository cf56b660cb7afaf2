#include "heed/text/columns.h"

#include <unicode/ubidi.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include "heed/text/graphemes.h"

namespace heed::text {

namespace {

size_t columns_of_character(UChar32 c) {
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

}  // namespace

size_t columns_of(std::string_view text) {
  const icu::UnicodeString all = unicode(text);
  size_t columns = 0;
  for (int32_t i = 0; i < all.length(); i = all.moveIndex32(i, 1)) columns += columns_of_character(all.char32At(i));
  return columns;
}

std::string cut_to(std::string_view text, size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  std::string kept;
  size_t used = 1;  // the …
  for (const std::string_view letter : graphemes_of(text)) {
    used += columns_of(letter);
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
