// From the options of a prediction to those of a search.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/search/search.h"
#include "heed/task/predict_options.h"

namespace heed::task {

/// What a model can do: its max_positions(), the tokens of an output where the options do not say, its heads.
struct OutputLimits {
  int64_t max_positions;
  int64_t longest;
  std::vector<int64_t> heads;  // of each layer that alignments can show
};

/// For the search, checked against each other and against what the model can do. A refusal begins with the name of the
/// option.
search::Options search_options(const PredictOptions& options, const OutputLimits& limits);

}  // namespace heed::task
