// Text in, search, text out: how a model that writes targets is asked.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/task/task.h"

namespace heed::task {

/// [lines] -> [lines]. As Task::predict(), for models with a generator.
std::vector<Prediction> predict_targets(const Answering& asked, std::span<const std::string> lines,
                                        const PredictOptions& options);

/// [pairs] -> [pairs]. As Task::score().
std::vector<PairScore> score_pairs(const Answering& asked, std::span<const TextPair> pairs);

}  // namespace heed::task
