// Saves parameters to a file of tensors and loads them.
#pragma once

#include <filesystem>
#include <vector>

#include "heed/checkpoint/safetensors.h"
#include "heed/layer/parameters.h"

namespace heed::file {

/// Every parameter by name, to be written in this type; as int8 only weights of products are, and the others float32.
/// They point into `parameters`, which must not change while they
/// are used.
std::vector<TensorToWrite> tensors_of(const Parameters& parameters, Dtype dtype = Dtype::f32);

/// Fills `parameters`, including empty ones, from tensors of the same names and shapes, of any type. If one is missing
/// or differs, the error lists the differences (the first twenty) and nothing is changed.
void load(const Safetensors& from, Parameters& parameters);

/// Writes all of them to a file, atomically, in this type, and loads them into parameters of the same names and shapes:
/// those of a model made in the same way.
void save(const std::filesystem::path& path, const Parameters& parameters, Dtype dtype = Dtype::f32);
void load(const std::filesystem::path& path, Parameters& parameters);

}  // namespace heed::file
