// What attention looked at, on a terminal: a map of weights between tokens, or a text shaded by its weights.
#pragma once

#include <cstdint>
#include <string>

#include "cli/terminal.h"
#include "heed/view/document.h"

namespace heed::cli {

/// A token as it can be seen: a blank as ␣.
std::string shown_token(const std::string& token);

/// The keys across, their labels from top to bottom unless each is one letter; the queries down. `head`: from 0, or -1
/// for the mean. What is wider than the terminal is drawn in several pieces, one below the other.
std::string token_map(const view::Example& example, const view::Map& map, int64_t head, const Terminal& terminal);

/// A line for each sentence with its weight (if there are several), and its words shaded by theirs (without colours:
/// words that count in brackets).
std::string shaded_text(const view::Example& example, const Terminal& terminal);

}  // namespace heed::cli
