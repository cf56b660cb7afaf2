// How wide text is on a terminal, and in which order its letters stand there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed::cli {

/// Columns that the text takes: 2 for wide characters (Chinese, Korean, emoji), 0 for marks that stand on others.
size_t columns_of(std::string_view text);

/// The text, cut to at most `columns`, with … where something was cut.
std::string cut_to(std::string_view text, size_t columns);

/// What a reader sees as one letter: a base and the marks on it.
struct Letter {
  std::string text;
  size_t columns = 0;
  size_t first = 0, last = 0;  // code points [first, last) of the text
  bool right_to_left = false;
};

/// The letters from left to right as they are seen: Arabic and Hebrew stand in reverse, the numbers in them do not.
std::vector<Letter> letters_as_seen(std::string_view text);

/// Keeps what stands around a text of any direction in its place.
std::string isolated(std::string_view text);

}  // namespace heed::cli
