// A picture and perhaps a question in, words out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/task/task.h"

namespace heed::task {

/// [lines] -> [lines]. As Task::predict(). A line is a picture (a file, or scene:NUMBER) and, for a model of questions,
/// a tab and the question. The alignment of a token is its weights of the cells, row by row.
std::vector<Prediction> predict_pictures(const LoadedModel& asked, std::span<const std::string> lines,
                                         const PredictOptions& options);

/// [pairs] -> [pairs]. As Task::score(), with sources like those lines.
std::vector<PairScore> score_pictures(const LoadedModel& asked, std::span<const TextPair> pairs);

}  // namespace heed::task
