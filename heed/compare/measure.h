// What is measured on a trained model: quality, speed of decoding, alignments.
#pragma once

#include <filesystem>

#include "heed/compare/result.h"
#include "heed/task/task.h"

namespace heed::compare {

/// Of the best checkpoint in the folder of a training, on the validation data of `corpus`, which the model was trained
/// with. What only the training knows (updates, times, memory) stays empty.
Result measure(const std::filesystem::path& folder, const task::Corpus& corpus);

}  // namespace heed::compare
