// In which order the letters of a text appear on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/columns.h"

namespace heed::cli {

using text::columns_of;
using text::cut_to;

/// What a reader sees as one letter: a base and the marks on it.
struct Letter {
  std::string text;
  size_t columns = 0;
  size_t first = 0, last = 0;  // code points [first, last) of the text
  bool right_to_left = false;
};

/// The letters from left to right as they are seen: Arabic and Hebrew in reverse, but not the numbers in them.
std::vector<Letter> letters_as_seen(std::string_view text);

/// Wraps right-to-left text in isolates, so that what surrounds it stays in place.
std::string isolated(std::string_view text);

}  // namespace heed::cli
