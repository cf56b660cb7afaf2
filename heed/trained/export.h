// A model as one file, to be copied, mailed and loaded wherever the folder of a training is.
#pragma once

#include <filesystem>

#include "heed/file/checkpoint.h"

namespace heed::trained {

/// Writes weights, recipe and vocabularies, and of the state: `step`, `seconds`, `averaged`, `best_step`, `best_value`
/// and `best_metric`, those that are known. Throws where the checkpoint makes no model; then nothing was written.
void export_model(const file::Checkpoint& checkpoint, const std::filesystem::path& file);

}  // namespace heed::trained
