#include "heed/data/inline_picture.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/data/picture_rows.h"

namespace heed::data {

namespace {

constexpr std::string_view kScheme = "data:", kBase64 = ";base64";

struct Kind {
  std::string_view type;
  PictureKind kind;
};
constexpr Kind kKinds[] = {{"image/png", PictureKind::png}, {"image/jpeg", PictureKind::jpeg}};

/// data:TYPE;base64,CONTENT
struct Parts {
  std::string_view type, content;
  bool has_comma = false;
};
Parts parts_of(std::string_view name) {
  name.remove_prefix(kScheme.size());
  const size_t comma = name.find(',');
  if (comma == std::string_view::npos) return {name, {}};
  return {name.substr(0, comma), name.substr(comma + 1), true};
}

constexpr uint8_t kNone = 64;  // the values of letters are smaller
constexpr std::array<uint8_t, 256> kValues = [] {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<uint8_t, 256> values{};
  values.fill(kNone);
  for (size_t i = 0; i < kLetters.size(); ++i)
    values[static_cast<unsigned char>(kLetters[i])] = static_cast<uint8_t>(i);
  return values;
}();

/// RFC 4648, section 4, and nothing else: three bytes in four letters, the last group filled with '='.
std::string from_base64(std::string_view text) {
  expect(text.size() % 4 == 0, ErrorKind::data,
         "its base64 has {} letters, not a multiple of 4: it is cut short, or its padding (=) is missing", text.size());
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const std::string_view letters = text.substr(0, text.size() - padding);
  expect_memory(0.75 * static_cast<double>(text.size()), "a picture inside a line");
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

}  // namespace

bool is_inline_picture(std::string_view name) { return name.starts_with(kScheme); }

std::string inline_picture_label(std::string_view name) {
  constexpr size_t kLongest = 40;  // of a type
  const Parts parts = parts_of(name);
  std::string type(parts.type.substr(0, kLongest));
  for (char& letter : type)  // it may be anything
    if (letter < ' ' || letter > '~') letter = '?';
  return fmt::format("{}{}, {} bytes", kScheme, type, parts.content.size() / 4 * 3);
}

PictureBytes inline_picture(std::string_view name) {
  PictureBytes picture{.bytes = {}, .name = inline_picture_label(name)};
  try {
    const Parts parts = parts_of(name);
    const Kind* named = nullptr;
    for (const Kind& each : kKinds)
      if (parts.has_comma && parts.type == std::string(each.type).append(kBase64)) named = &each;
    expect(named != nullptr, ErrorKind::data,
           "a picture inside a line begins with data:image/png;base64, or data:image/jpeg;base64,");
    picture.bytes = from_base64(parts.content);
    expect(!picture.bytes.empty(), ErrorKind::data, "there is no picture after the comma");
    const PictureKind kind = kind_of_picture(picture.bytes);
    expect(kind == PictureKind::none || kind == named->kind, ErrorKind::data,
           "it says {}, but its first bytes are those of the other type", named->type);
    return picture;
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("'{}': {}", picture.name, error.what()));
  }
}

}  // namespace heed::data
