// How wide text is on a terminal, and in which order its letters appear there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed::cli {

/// Columns that the text takes: 2 for wide characters (Chinese, Korean, emoji), 0 for combining marks.
size_t columns_of(std::string_view text);

/// The text, cut to at most `columns`, ending in … if something was cut.
std::string cut_to(std::string_view text, size_t columns);

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
