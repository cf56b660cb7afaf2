// A trained model: options, vocabularies and weights, ready to run or to be trained on.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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

  /// To be asked with the memory of `tapes`. The model must outlive it.
  task::Answering answering(search::TapePool& tapes) const;
  /// Tokens of an output at most: what the recipe says, or less where the model can place no more.
  int64_t longest_output() const;
};

/// A model for these vocabularies, with fresh weights or, where others are to be loaded, without any.
TrainedModel make_model(const recipe::Recipe& recipe, task::Vocabularies vocabularies, Start start = Start::drawn);

/// `folder`: of a training, one checkpoint of it, or the file of a model (export.h). `name`: "best" (where none was
/// marked: the newest good one), "last", or the name of a checkpoint. Opened to run the model, not to go on with its
/// training. A training that is still running removes old checkpoints, also under the eyes of who reads them: `use` is
/// called again then, with the one that took its place.
void with_checkpoint(const std::filesystem::path& folder, std::string_view name,
                     const std::function<void(const file::Checkpoint&)>& use);
TrainedModel load_model(const file::Checkpoint& checkpoint);
TrainedModel load_model(const std::filesystem::path& folder, std::string_view name = "best");

/// Its config.toml. What is wrong there is a damaged checkpoint, and no RecipeError; what is wrong with `overrides` is
/// one.
recipe::Recipe recipe_of(const file::Checkpoint& checkpoint, std::span<const std::string> overrides = {});

/// Throws where a weight of that name is infinite or NaN: a training never keeps such, so the file was changed.
void expect_finite(const std::vector<float>& weights, const file::Checkpoint& checkpoint, std::string_view name);

}  // namespace heed::trained
