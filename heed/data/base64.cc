#include "heed/data/base64.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "heed/base/error.h"
#include "heed/base/memory.h"

namespace heed::data {

namespace {

constexpr uint8_t kNone = 64;  // the values of letters are smaller
constexpr std::array<uint8_t, 256> kValues = [] {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<uint8_t, 256> values{};
  values.fill(kNone);
  for (size_t i = 0; i < kLetters.size(); ++i)
    values[static_cast<unsigned char>(kLetters[i])] = static_cast<uint8_t>(i);
  return values;
}();

}  // namespace

std::string from_base64(std::string_view text, std::string_view what) {
  expect(text.size() % 4 == 0, ErrorKind::data,
         "its base64 has {} letters, not a multiple of 4: it is cut short, or its padding (=) is missing", text.size());
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const std::string_view letters = text.substr(0, text.size() - padding);
  expect_memory(0.75 * static_cast<double>(text.size()), what);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int count = 0;  // of them
  for (size_t i = 0; i < letters.size(); ++i) {
    const auto letter = static_cast<unsigned char>(letters[i]);
    const uint8_t value = kValues[letter];
    expect(value != kNone, ErrorKind::data, "letter {} of its base64 is {}, which base64 does not have", i + 1,
           letter > ' ' && letter < 127 ? fmt::format("'{}'", letters[i]) : fmt::format("byte {}", letter));
    bits = bits << 6 | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
    bits &= (1u << count) - 1;
  }
  expect(bits == 0, ErrorKind::data, "its base64 ends with bits that belong to no byte: it is damaged");
  return bytes;
}

}  // namespace heed::data
