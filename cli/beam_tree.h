// What a search considered, on a terminal.
#pragma once

#include <string>

#include "cli/terminal.h"
#include "heed/view/document.h"

namespace heed::cli {

/// The path to the best output runs straight down, and what branches off is drawn before it goes on, so that long
/// outputs stay narrow. Of each kept token: log p so far, and the source token with the most attention; candidates that
/// were dropped share a line. `example` must have a beam.
std::string beam_tree(const view::Example& example, const Terminal& terminal);

}  // namespace heed::cli
