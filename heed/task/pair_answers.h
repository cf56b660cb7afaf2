// Text in, search, text out: prediction and scoring with a model that writes targets.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/task/task.h"

namespace heed::task {

/// [lines] -> [lines]. Task::predict() for models with a generator.
std::vector<Prediction> predict_targets(const LoadedModel& asked, std::span<const std::string> lines,
                                        const PredictOptions& options);

/// [pairs] -> [pairs]. Task::score().
std::vector<PairScore> score_pairs(const LoadedModel& asked, std::span<const TextPair> pairs);

}  // namespace heed::task
