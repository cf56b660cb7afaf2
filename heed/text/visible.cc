#include "heed/text/visible.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/text/utf8.h"

namespace heed::text {

namespace {

uint32_t code_point(std::string_view bytes) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (bytes.size() == 1) return byte(0);
  uint32_t code = byte(0) & (0x7Fu >> bytes.size());
  for (size_t i = 1; i < bytes.size(); ++i) code = code << 6 | (byte(i) & 0x3Fu);
  return code;
}

/// JSON knows \u, and never has the others as they are.
std::string shown(std::string_view character) {
  const uint32_t code = code_point(character);
  if (code < 0x20) return code == '\t' || code == '\n' ? std::string(character) : fmt::format("\\x{:02x}", code);
  const bool control = code >= 0x7F && code <= 0x9F;
  const bool turns = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return control || turns ? fmt::format("\\u{:04x}", code) : std::string(character);
}

}  // namespace

std::string visible(std::string_view text) {
  std::string all;
  all.reserve(text.size());
  while (!text.empty()) {
    const size_t valid = std::min(utf8_fault(text), text.size());
    for (const std::string_view character : CodePoints(text.substr(0, valid))) all += shown(character);
    text.remove_prefix(valid);
    if (text.empty()) break;
    all += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    text.remove_prefix(1);
  }
  return all;
}

}  // namespace heed::text
