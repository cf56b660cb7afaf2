// How outputs are searched for: the options of predict, and of evaluate where it predicts.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

#include "heed/search/search.h"
#include "heed/train/load_model.h"

namespace heed::cli {

struct SearchChoice {
  search::Options options;
  int64_t beam = 0;     // 0: as many as nbest
  int64_t longest = 0;  // 0: what the model's recipe says
  int64_t batch = 64;
};

/// For a single output of each source.
void add_search(CLI::App& verb, SearchChoice& choice);
/// Several outputs, and outputs that are drawn.
void add_nbest_and_sampling(CLI::App& verb, SearchChoice& choice);

/// Checked against each other and against what the model can do.
search::Options options_of(const SearchChoice& choice, const train::TrainedModel& trained);

}  // namespace heed::cli
