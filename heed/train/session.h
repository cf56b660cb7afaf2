// A whole training run: from a recipe to a folder with the trained model. Prints nothing, but calls observers.
//
//   recipe -> pairs -> tokenisers -> ids -> model -> updates, validations, checkpoints
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/tensor/profile.h"
#include "heed/train/objective/reward.h"
#include "heed/train/observer.h"
#include "heed/train/recipe/recipe.h"

namespace heed::task {
struct Corpus;
}

namespace heed::train {

/// The result cannot be written: its folder cannot be created or is in use, or the last checkpoint could not be
/// written. Earlier checkpoints are unchanged.
class SaveError : public Error {
 public:
  explicit SaveError(const std::string& message) : Error(ErrorKind::cannot_write, message) {}
};

struct SessionOptions {
  bool resume = false;                      // from the newest good checkpoint of the folder
  std::string from = {};                    // start from the weights of this model; empty: from random ones
  std::string seen = {};                    // what the data was taken for (recipe::Understood), to tell the observers
  const std::atomic<bool>* stop = nullptr;  // when it becomes true, save and return after the current update
  std::vector<TrainingObserver*> observers = {};
  Profile* profile = nullptr;             // if not null: where the time of the updates goes
  objective::RewardFunction reward = {};  // train.reward = "own": how good outputs are
  task::Corpus* corpus = nullptr;         // if not null: takes over the data at the end, for whoever measures the model
};

/// Trains as the recipe says. Throws RecipeError if the recipe makes no model, SaveError, and Error if the data or a
/// checkpoint cannot be used.
Finished run_session(const recipe::Recipe& recipe, const SessionOptions& options = {});

/// What open keys of the recipe follow from, to parse it with: with `resume`, the newest good checkpoint of the folder,
/// if there is one; or else the weights that the run starts from, if any.
std::optional<recipe::Precedent> precedent_of(const SessionOptions& options, const std::filesystem::path& folder);

/// The recipe that the newest good checkpoint of a folder was trained with.
recipe::Recipe recipe_of_folder(const std::filesystem::path& folder, std::span<const std::string> overrides = {});

}  // namespace heed::train
