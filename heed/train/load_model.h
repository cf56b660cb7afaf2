// A trained model, ready to run.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/file/checkpoint.h"
#include "heed/model/seq2seq.h"
#include "heed/train/corpus.h"
#include "heed/train/recipe.h"

namespace heed::train {

struct TrainedModel {
  Recipe recipe;  // that it was trained with
  Vocabularies vocabularies;
  std::unique_ptr<Parameters> parameters;
  std::unique_ptr<model::Seq2Seq> model;
};

/// A model for these vocabularies, with fresh weights or, where others are to be loaded, without any.
TrainedModel make_model(const Recipe& recipe, Vocabularies vocabularies, Start start = Start::drawn);

/// `folder`: of a training, or one checkpoint of it. `name`: "best" (where none was marked: the newest good one),
/// "last", or the name of a checkpoint. Opened to run the model, not to go on with its training.
/// A training that is still running removes old checkpoints, also under the eyes of who reads them: `use` is called
/// again then, with the one that took its place.
void with_checkpoint(const std::filesystem::path& folder, std::string_view name,
                     const std::function<void(const file::Checkpoint&)>& use);
TrainedModel load_model(const file::Checkpoint& checkpoint);
/// Its config.toml. What is wrong there is a damaged checkpoint, and no RecipeError; what is wrong with `overrides` is
/// one.
Recipe recipe_of(const file::Checkpoint& checkpoint, std::span<const std::string> overrides = {});
TrainedModel load_model(const std::filesystem::path& folder, std::string_view name = "best");

/// Throws where a weight of that name is infinite or NaN: a training never keeps such, so the file was changed.
void expect_finite(const std::vector<float>& weights, const file::Checkpoint& checkpoint, std::string_view name);

/// Tokens of a source or a target at most (a target's END included), where the model has a place for each; else more
/// than any text has.
int64_t places(const Recipe& recipe);

/// Tokens of an output at most: what the recipe says, or less where the model can place no more.
int64_t longest_output(const Recipe& recipe);

}  // namespace heed::train
