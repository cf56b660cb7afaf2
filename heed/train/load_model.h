// A trained model, ready to run.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

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
TrainedModel make_model(const Recipe& recipe, Vocabularies vocabularies, Start start = Start::kDrawn);

/// `folder`: of a training, or one checkpoint of it. `name`: "best" (where none was marked: the newest good one),
/// "last", or the name of a checkpoint. Opened to run the model, not to go on with its training.
/// A training that is still running removes old checkpoints, also under the eyes of who reads them: `use` is called
/// again then, with the one that took its place.
void with_checkpoint(const std::filesystem::path& folder, std::string_view name,
                     const std::function<void(const file::Checkpoint&)>& use);
TrainedModel load_model(const file::Checkpoint& checkpoint);
TrainedModel load_model(const std::filesystem::path& folder, std::string_view name = "best");

/// Tokens of a source or a target at most (a target's END included), where the model has a place for each; else more
/// than any text has.
int64_t places(const Recipe& recipe);

/// Tokens of an output at most: what the recipe says, or less where the model can place no more.
int64_t longest_output(const Recipe& recipe);

}  // namespace heed::train
