// From the options of a prediction to those of the search.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/model/search/search.h"
#include "heed/task/predict_options.h"
#include "heed/text/tokeniser.h"

namespace heed::task {

/// The limits of a model: its max_positions(), the default longest output in tokens, its heads.
struct OutputLimits {
  int64_t max_positions;
  int64_t longest;
  std::vector<int64_t> heads;  // of each layer that alignments can show
  bool parallel = false;       // it writes all positions at once ...
  bool has_slots = false;      // ... into slots: there is one length
  int64_t most_tokens = 0;     // ... so many
  bool writes_lines = false;   // outputs may have several lines, each after an <s>
};

/// `target`: what the model writes. Checks the options against each other and against the limits of the model. An error
/// message begins with the name of the option.
search::Options search_options(const PredictOptions& options, const OutputLimits& limits,
                               const text::Tokeniser& target);

}  // namespace heed::task
