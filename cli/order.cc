#include "cli/order.h"

#include <algorithm>
#include <array>
#include <random>

#include "heed/text/visible.h"

namespace heed::cli {

namespace {

constexpr char kEnd = '\x02';  // no sequence holds it

/// Six of the 240 supplementary variation selectors, U+E0100 to U+E01EF: 47 bits, in 24 bytes of UTF-8.
const std::string& mark() {
  static const std::string drawn = [] {
    std::random_device random;
    std::string text;
    for (int i = 0; i < 6; ++i) {
      const unsigned code = 0xE0100 + random() % 240;
      const std::array<unsigned, 4> bytes = {0xF0 | code >> 18, 0x80 | (code >> 12 & 0x3F), 0x80 | (code >> 6 & 0x3F),
                                             0x80 | (code & 0x3F)};
      for (const unsigned byte : bytes) text += static_cast<char>(byte);
    }
    return text;
  }();
  return drawn;
}

/// \r and ESC [ 1;2 m, or an isolate. A text that was cut may have lost the end of an order: then data follows the
/// mark.
bool is_sequence(std::string_view text) {
  if (text == "\u2068" || text == "\u2069") return true;
  if (text.starts_with('\r')) text.remove_prefix(1);
  if (text.empty()) return true;
  if (!text.starts_with("\033[")) return false;
  text.remove_prefix(2);
  return !text.empty() && text.find_first_not_of("0123456789;") == text.size() - 1 &&
         std::string_view("mKJA").find(text.back()) != std::string_view::npos;
}

}  // namespace

std::string order(std::string_view sequence) { return mark() + std::string(sequence) + kEnd; }

std::string with_orders(std::string_view text, bool visible) {
  std::string all;
  while (true) {
    const size_t at = text.find(mark());
    const std::string_view data = text.substr(0, at);
    all += visible ? text::visible(data) : std::string(data);
    if (at == std::string_view::npos) return all;
    text.remove_prefix(at + mark().size());
    const size_t end = text.find(kEnd);
    if (end == std::string_view::npos || !is_sequence(text.substr(0, end))) continue;
    all += text.substr(0, end);
    text.remove_prefix(end + 1);
  }
}

}  // namespace heed::cli
