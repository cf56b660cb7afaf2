// A recording in, words out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/task/task.h"

namespace heed::task {

/// [lines] -> [lines]. As Task::predict(). A line is a recording: a file, or data:audio/wav;base64,... inside the line.
/// The alignment of a token is its weights of the rows that the model makes of the frames.
std::vector<Prediction> predict_speech(const LoadedModel& asked, std::span<const std::string> lines,
                                       const PredictOptions& options);

/// [pairs] -> [pairs]. As Task::score(), with sources like those lines.
std::vector<PairScore> score_speech(const LoadedModel& asked, std::span<const TextPair> pairs);

}  // namespace heed::task
