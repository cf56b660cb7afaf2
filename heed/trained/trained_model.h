// A trained model: recipe, vocabularies and weights, ready to run or to be trained further.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/file/checkpoint.h"
#include "heed/model/model.h"
#include "heed/recipe/recipe.h"
#include "heed/task/task.h"

namespace heed::trained {

struct TrainedModel {
  recipe::Recipe recipe;  // that it was trained with
  task::Vocabularies vocabularies;
  std::unique_ptr<Parameters> parameters;
  std::unique_ptr<model::Model> model;

  /// For predictions with the memory of `tapes`. The model must outlive it.
  task::Answering answering(search::TapePool& tapes) const;
  /// Longest output in tokens: validate.longest, or less if the model has fewer positions.
  int64_t longest_output() const;
};

/// A model for these vocabularies, with random weights, or without any if they are to be loaded.
TrainedModel make_model(const recipe::Recipe& recipe, task::Vocabularies vocabularies, Start start = Start::drawn);

/// `folder`: a training folder, one of its checkpoints, or the file of a model (export.h). `name`: "best" (if none was
/// marked: the newest good one), "last", or the name of a checkpoint. Opened to run the model, not to resume its
/// training. A run in progress removes old checkpoints, even while they are being read: then `use` is called again,
/// with the one that took its place.
void with_checkpoint(const std::filesystem::path& folder, std::string_view name,
                     const std::function<void(const file::Checkpoint&)>& use);
/// `packed`: the format of its weights, of which a model that only runs needs one copy, packed for its products. Null:
/// numbers, to be trained on or written.
TrainedModel load_model(const file::Checkpoint& checkpoint, const WeightFormat* packed = nullptr);
TrainedModel load_model(const std::filesystem::path& folder, std::string_view name = "best",
                        const WeightFormat* packed = nullptr);

/// Name and text of the part of a checkpoint that says in which words it is written.
std::pair<std::string, std::string> version_part();

/// Its config.toml, for a copy somewhere else: names of data are not relative to the checkpoint.
std::string config_to_copy(const file::Checkpoint& checkpoint);

/// Its config.toml. A mistake in it is a damaged checkpoint, not a RecipeError; a mistake in `overrides` is a
/// RecipeError.
recipe::Recipe recipe_of(const file::Checkpoint& checkpoint, std::span<const std::string> overrides = {});

/// Throws if a value of the weight `name` is infinite or NaN: training never saves one, so the file was changed.
void expect_finite(const std::vector<float>& weights, const file::Checkpoint& checkpoint, std::string_view name);

}  // namespace heed::trained
