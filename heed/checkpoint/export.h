// A model as one file, which can be copied, mailed, and loaded wherever a training folder can.
#pragma once

#include <filesystem>

#include "heed/base/dtype.h"
#include "heed/checkpoint/checkpoint.h"

namespace heed::trained {

/// load_model() and save_model(), with weights in this type. Throws if the checkpoint makes no model; then nothing is
/// written.
void export_model(const file::Checkpoint& checkpoint, const std::filesystem::path& file, Dtype dtype = Dtype::f32);

/// Throws if the file is a folder, or exists and is not a model; `force` allows the latter.
void expect_replaceable(const std::filesystem::path& file, bool force = false);

}  // namespace heed::trained
