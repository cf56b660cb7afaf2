// A worked example as text, for the terminal and the pages: the vectors, scores, weights and context of one query.
#pragma once

#include <string>

#include "cli/worked_example.h"

namespace heed::cli {

/// Lines of at most 80 columns for three words; or why there is no example.
std::string example_text(const WorkedExample& example);

}  // namespace heed::cli
