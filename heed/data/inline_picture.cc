#include "heed/data/inline_picture.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/data/base64.h"
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
    picture.bytes = from_base64(parts.content, "a picture inside a line");
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
