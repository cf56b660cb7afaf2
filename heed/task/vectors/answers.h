// What a model of vectors says of lines.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/task/task.h"

namespace heed::task {

/// [lines] -> [lines]: Prediction::vector, and the same as text: "[0.25,-0.5]".
std::vector<Prediction> vectors_of(const LoadedModel& asked, std::span<const std::string> lines,
                                   const PredictOptions& options);

}  // namespace heed::task
