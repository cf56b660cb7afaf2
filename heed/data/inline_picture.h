// Pictures inside a line, as the address that browsers make of a file: data:image/png;base64,... or image/jpeg.
#pragma once

#include <string>
#include <string_view>

#include "heed/data/picture.h"

namespace heed::data {

/// Whether it begins as one; it may still be broken. Such a name never reaches the file system.
bool is_inline_picture(std::string_view name);

/// Its bytes. Throws if it is of another type, or if its base64 is not exactly as RFC 4648 has it: no blanks, with
/// padding. Memory is given only for what is there.
PictureBytes inline_picture(std::string_view name);

/// What messages call it: its type and size, not the bytes.
std::string inline_picture_label(std::string_view name);

}  // namespace heed::data
