// Writing a whole model: the other half of load_model().
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "heed/checkpoint/trained_model.h"

namespace heed::trained {

// The parts of a checkpoint that are texts.
inline constexpr const char *kDescriptionPart = "model.toml", *kRecipePart = "config.toml", *kStatePart = "state.json";

struct SaveOptions {
  bool one_file = false;     // a file (checkpoint/model_file.h), not a folder
  Dtype dtype = Dtype::f32;  // of the weights, rounded to the nearest
};

/// Writes a checkpoint that load_model() reads, whether the model was trained here or not: description, vocabularies,
/// weights, and what is known of its training, which cannot be resumed from it. It is there completely or not at all.
void save_model(const TrainedModel& model, const std::filesystem::path& path, const SaveOptions& options = {});

/// Calls add(part, text) for all that describes a model: a training adds weights and state by itself.
void each_text(const TrainedModel& model, const std::function<void(const std::string&, std::string)>& add);

}  // namespace heed::trained
