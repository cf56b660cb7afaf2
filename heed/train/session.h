// A whole training: from a recipe to a folder with the trained model. Prints nothing; observers are told.
//
//   recipe -> pairs -> tokenisers -> ids -> model -> updates, validations, checkpoints
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "heed/file/run_folder.h"
#include "heed/recipe/recipe.h"
#include "heed/tensor/error.h"
#include "heed/tensor/profile.h"
#include "heed/train/observer.h"

namespace heed::train {

/// The result cannot be written: its folder cannot be made or is in use, or the last checkpoint could not be written.
/// The ones before it are as they were.
class SaveError : public Error {
 public:
  explicit SaveError(const std::string& message) : Error(ErrorKind::cannot_write, message) {}
};

struct SessionOptions {
  bool resume = false;                      // go on from the newest good checkpoint of the folder
  const std::atomic<bool>* stop = nullptr;  // becomes true: save and return, after the update at hand
  std::vector<TrainingObserver*> observers = {};
  Profile* profile = nullptr;  // where the time of the updates goes, on request
};

/// Trains as the recipe says. Throws RecipeError where the recipe makes no model, SaveError, and Error where the
/// data or a checkpoint cannot be used.
Finished run_session(const recipe::Recipe& recipe, const SessionOptions& options = {});

/// Makes the model of a recipe without memory for it, as every training does first. Throws RecipeError, with every
/// reason, where there is no such model.
void check_model_of(const recipe::Recipe& recipe);

/// The recipe that the newest good checkpoint of a folder was trained with.
recipe::Recipe recipe_of_folder(const std::filesystem::path& folder, std::span<const std::string> overrides = {});

}  // namespace heed::train
