#include "cli/columns.h"

#include <unicode/brkiter.h>
#include <unicode/ubidi.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <memory>

#include "cli/order.h"

namespace heed::cli {

namespace {

std::string utf8(const icu::UnicodeString& text) {
  std::string out;
  text.toUTF8String(out);
  return out;
}

icu::UnicodeString unicode(std::string_view text) {
  return icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
}

/// [begin, end) of each letter, in UTF-16.
std::vector<std::pair<int32_t, int32_t>> clusters(const icu::UnicodeString& text) {
  std::vector<std::pair<int32_t, int32_t>> found;
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), status));
  if (U_FAILURE(status)) return {{0, text.length()}};
  breaks->setText(text);
  for (int32_t begin = breaks->first(), end = breaks->next(); end != icu::BreakIterator::DONE;
       begin = end, end = breaks->next())
    found.emplace_back(begin, end);
  return found;
}

}  // namespace

std::vector<Letter> letters_as_seen(std::string_view text) {
  const icu::UnicodeString all = unicode(text);
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UBiDi, decltype(&ubidi_close)> bidi(ubidi_open(), ubidi_close);
  ubidi_setPara(bidi.get(), all.getBuffer(), all.length(), UBIDI_DEFAULT_LTR, nullptr, &status);
  struct Placed {
    int32_t place;
    Letter letter;
  };
  // All places at once: asking for them one by one would take time by the square of the length.
  std::vector<int32_t> places(static_cast<size_t>(all.length()));
  if (all.length() > 0) ubidi_getLogicalMap(bidi.get(), places.data(), &status);
  std::vector<Placed> letters;
  size_t characters = 0;  // before this letter
  for (const auto& [begin, end] : clusters(all)) {
    Letter letter;
    letter.text = utf8(icu::UnicodeString(all, begin, end - begin));
    letter.columns = columns_of(letter.text);
    letter.first = characters;
    letter.last = characters += static_cast<size_t>(all.countChar32(begin, end - begin));
    letter.right_to_left = ubidi_getLevelAt(bidi.get(), begin) % 2 == 1;
    letters.push_back({U_SUCCESS(status) ? places[static_cast<size_t>(begin)] : begin, std::move(letter)});
  }
  std::stable_sort(letters.begin(), letters.end(), [](const Placed& a, const Placed& b) { return a.place < b.place; });
  std::vector<Letter> seen;
  seen.reserve(letters.size());
  for (Placed& each : letters) seen.push_back(std::move(each.letter));
  return seen;
}

std::string isolated(std::string_view text) {
  const icu::UnicodeString all = unicode(text);
  for (int32_t i = 0; i < all.length(); i = all.moveIndex32(i, 1)) {
    const UCharDirection direction = u_charDirection(all.char32At(i));
    if (direction == U_RIGHT_TO_LEFT || direction == U_RIGHT_TO_LEFT_ARABIC || direction == U_ARABIC_NUMBER)
      return order("\u2068") + std::string(text) + order("\u2069");  // FIRST STRONG ISOLATE, POP DIRECTIONAL ISOLATE
  }
  return std::string(text);
}

}  // namespace heed::cli
