#include "heed/trained/export.h"

#include <string>
#include <system_error>

#include "heed/file/model_file.h"
#include "heed/file/weights.h"
#include "heed/tensor/error.h"
#include "heed/trained/trained_model.h"

namespace heed::trained {

namespace {

/// What people want to know about the training; without what only a trainer needs. `metric`: null if it says nothing of
/// these weights.
file::TrainingState summary(const file::TrainingState& all, const std::string* metric) {
  file::TrainingState kept;
  const auto keep = [&](const char* name) {
    const auto found = all.values().find(name);
    if (found != all.values().end()) std::visit([&](const auto& value) { kept.set(name, value); }, found->second);
  };
  for (const char* name : {"step", "seconds", "averaged"}) keep(name);
  if (!metric || !all.has("best_step") || all.integer("best_step") <= 0) return kept;
  for (const char* name : {"best_step", "best_value"}) keep(name);
  kept.set("best_metric", *metric);
  return kept;
}

}  // namespace

void export_model(const file::Checkpoint& checkpoint, const std::filesystem::path& file, Dtype dtype,
                  const Parameters* changed) {
  const TrainedModel trained = load_model(checkpoint);
  if (changed)
    for (Parameter& p : *trained.parameters) p.value = changed->find(p.name)->value.copy();
  file::ModelTexts texts;
  for (const file::CheckpointPart& part : checkpoint.parts())
    if (part.name.ends_with(".vocab")) texts.emplace(part.name, checkpoint.text(part.name));
  texts.emplace("config.toml", config_to_copy(checkpoint));
  texts.emplace("state.json", summary(checkpoint.state(), changed ? nullptr : &trained.recipe.validate.metric).json());
  file::write_model_file(file, texts, file::tensors_of(*trained.parameters, dtype));
}

void expect_replaceable(const std::filesystem::path& file, bool force) {
  std::error_code ignored;
  expect(!std::filesystem::is_directory(file, ignored), ErrorKind::cannot_write,
         "'{0}' is a folder: --output takes a file, such as {0}.heed", file.string());
  expect(force || !std::filesystem::is_regular_file(file, ignored) || file::is_model_file(file),
         ErrorKind::cannot_write, "'{}' already exists and is not a model: --force replaces it", file.string());
}

}  // namespace heed::trained
