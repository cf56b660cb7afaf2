// When the words of an output were said: where the attention was while they were written.
#pragma once

#include <vector>

#include "heed/task/prediction.h"
#include "heed/text/tokeniser.h"

namespace heed::task {

/// A word starts where a tenth of the attention of its tokens is behind, and ends where nine tenths are; rows of the
/// alignment are `row_seconds` long. None without an alignment.
std::vector<WordTime> word_times(const Output& output, double row_seconds, const text::Tokeniser& target);

}  // namespace heed::task
