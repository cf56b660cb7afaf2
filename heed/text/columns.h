// How much room text takes, in columns of a fixed-width font, and which way it runs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed::text {

/// Columns that the text takes: 2 for wide characters (Chinese, Korean, emoji), 0 for combining marks. Emoji that are
/// joined to one, such as a family, take 2 together, as in drawings and newer terminals; some older terminals draw them
/// side by side.
size_t columns_of(std::string_view text);

/// The text, cut to at most `columns` between letters as a reader sees them, ending in … if something was cut.
std::string cut_to(std::string_view text, size_t columns);

/// Whether its first letter with a direction belongs to a right-to-left script, such as Arabic.
bool runs_right_to_left(std::string_view text);

}  // namespace heed::text
