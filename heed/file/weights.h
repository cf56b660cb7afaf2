// Parameters to and from a file of tensors.
#pragma once

#include <filesystem>
#include <vector>

#include "heed/file/safetensors.h"
#include "heed/layer/parameters.h"

namespace heed::file {

/// Every parameter under its name. They point into `parameters`, which must stay as it is while they are used.
std::vector<TensorToWrite> tensors_of(const Parameters& parameters);

/// Fills `parameters`, also empty ones, from tensors of the same names and shapes. Where the two differ in anything,
/// the error lists it (the first twenty) and nothing was changed.
void load(const Safetensors& from, Parameters& parameters);

/// A file with all of them, which is there completely or not at all, and from there back into parameters of the same
/// names and shapes: those of a model that was made in the same way.
void save(const std::filesystem::path& path, const Parameters& parameters);
void load(const std::filesystem::path& path, Parameters& parameters);

}  // namespace heed::file
