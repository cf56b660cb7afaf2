#include "heed/text/utf8.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

namespace heed::text {

namespace {

/// Bytes of the code point at the beginning of `text`, or 0 where it is broken: table 3-7 of the Unicode standard.
size_t valid_length(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;  // a continuation byte, an overlong form, or far above U+10FFFF
  const size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  // The second byte has a smaller range where an overlong form, a surrogate or too large a value would begin.
  const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (at(1) < low || at(1) > high) return 0;
  for (size_t i = 2; i < length; ++i)
    if (at(i) < 0x80 || at(i) > 0xBF) return 0;
  return length;
}

}  // namespace

size_t utf8_fault(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    // Eight bytes of ASCII at once: most of most corpora.
    uint64_t word = 0;
    if (text.size() - i >= sizeof word) {
      std::memcpy(&word, text.data() + i, sizeof word);
      if ((word & 0x8080808080808080u) == 0) {
        i += sizeof word;
        continue;
      }
    }
    const size_t length = valid_length(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string utf8_complaint(std::string_view text) {
  const size_t fault = utf8_fault(text);
  return fault == std::string_view::npos ? "" : fmt::format("byte {} is not valid UTF-8", fault + 1);
}

size_t find_control(std::string_view text, size_t from) {
  for (size_t i = from; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\t') || byte == 0x7F) return i;
    // U+0080 to U+009F are C2 80 to C2 9F.
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) return i;
  }
  return std::string_view::npos;
}

size_t utf8_count(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

}  // namespace heed::text
