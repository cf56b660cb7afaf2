// How outputs are searched for: the options of predict, and of evaluate where it predicts.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

#include "heed/predict/predictor.h"

namespace heed::cli {

struct SearchChoice {
  predict::Options options;
  int64_t batch = 64;  // lines
};

/// For a single output of each source.
void add_search(CLI::App& verb, SearchChoice& choice);
/// Several outputs, and outputs that are drawn.
void add_nbest_and_sampling(CLI::App& verb, SearchChoice& choice);

/// Ends the program where the options do not go together, or the model cannot do that.
void check(const predict::Options& options, const predict::Predictor& predictor);

}  // namespace heed::cli
