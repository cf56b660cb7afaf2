// How outputs are searched for: the options of predict, and of evaluate where it predicts.
#pragma once

#include <cstdint>

#include "cli/arguments.h"
#include "heed/predict/predictor.h"

namespace heed::cli {

struct SearchChoice {
  predict::Options options;
  int64_t batch = 0;  // lines; 0: as many for each thread as make it worth having
};

/// For a single output of each source.
void add_search(Verb verb, SearchChoice& choice);
/// Several outputs, and outputs that are drawn.
void add_nbest_and_sampling(Verb verb, SearchChoice& choice);

/// Lines to work on at once.
size_t lines_at_once(const SearchChoice& choice);

/// Ends the program where the options do not go together, or the model cannot do that.
void check(const predict::Options& options, const predict::Predictor& predictor);

}  // namespace heed::cli
