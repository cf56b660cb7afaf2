// What the program itself tells a terminal to do, inside of texts that hold data of others.
#pragma once

#include <string>
#include <string_view>

namespace heed::cli {

/// A colour, the erasing of a line, an isolate: an escape sequence or a character that print() and note() pass on,
/// while they make the same in data visible. In a text it stands behind a mark that every run draws anew, so that no
/// data holds it; the mark has no width.
std::string order(std::string_view sequence);

/// The text as it is written: orders without their marks, and the data between them as it is, or visible.
std::string with_orders(std::string_view text, bool visible);

}  // namespace heed::cli
