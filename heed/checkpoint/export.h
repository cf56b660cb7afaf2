// A model as one file, which can be copied, mailed, and loaded wherever a training folder can.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "heed/base/dtype.h"
#include "heed/checkpoint/checkpoint.h"

namespace heed::trained {

/// load_model() and save_model(), with weights in this type, or in that which they have. Throws if the checkpoint makes
/// no model; then nothing is written. The result is the type that they had.
Dtype export_model(const file::Checkpoint& checkpoint, const std::filesystem::path& file,
                   std::optional<Dtype> dtype = {});

/// A type of weights by its name, or none for kStored.
std::optional<Dtype> dtype_of(const std::string& precision, const char* option);

/// Throws if the file is a folder, or exists and is not a model; `force` allows the latter.
void expect_replaceable(const std::filesystem::path& file, bool force = false);

}  // namespace heed::trained
