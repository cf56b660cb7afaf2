// Text in, label out: how a classifier is asked.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/task/task.h"

namespace heed::task {

/// [lines] -> [lines]. As Task::predict(): `nbest` labels, the likeliest first, each with its log-probability; the
/// alignment is where the text was looked at, a row for each vector it was pooled into.
std::vector<Prediction> predict_labels(const LoadedModel& asked, std::span<const std::string> lines,
                                       const PredictOptions& options);

/// [pairs] -> [pairs]. As Task::score().
std::vector<PairScore> score_labels(const LoadedModel& asked, std::span<const TextPair> pairs);

}  // namespace heed::task
