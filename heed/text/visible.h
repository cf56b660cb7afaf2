// Text that somebody else wrote, for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace heed::text {

/// The text with everything that could control a terminal, or turn the order of what it shows around, as an escape that
/// can be read: control characters as \x1b, those above U+007E and the embeddings, overrides and isolates of
/// bidirectional text as \u202e, bytes that are not UTF-8 as \xff. Tabs and newlines stay. What was JSON still is.
std::string visible(std::string_view text);

}  // namespace heed::text
