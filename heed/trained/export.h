// A model as one file, which can be copied, mailed, and loaded wherever a training folder can.
#pragma once

#include <filesystem>

#include "heed/file/checkpoint.h"
#include "heed/layer/parameters.h"

namespace heed::trained {

/// Writes weights in this type (rounded to the nearest, if it is not float32), recipe, vocabularies, and these values
/// of the state if they are known: `step`, `seconds`, `averaged`, `best_step`, `best_value` and `best_metric`. Throws
/// if the checkpoint makes no model; then nothing is written. `changed`: the weights to write, in place of those of the
/// checkpoint; then nothing is said of how good those were.
void export_model(const file::Checkpoint& checkpoint, const std::filesystem::path& file, Dtype dtype = Dtype::f32,
                  const Parameters* changed = nullptr);

/// Throws if the file is a folder, or exists and is not a model; `force` allows the latter.
void expect_replaceable(const std::filesystem::path& file, bool force = false);

}  // namespace heed::trained
