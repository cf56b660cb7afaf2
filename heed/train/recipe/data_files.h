// From the files that people have to a recipe: what kind of task their data is for. The program, Python and C++ share
// it.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "heed/train/recipe/recipe.h"

namespace heed::recipe {

/// Files to train with.
struct DataFiles {
  std::vector<std::string> train;       // the data: one file, or SOURCE and TARGET; or a recipe (TOML) or a built-in
                                        // task (its name), alone
  std::vector<std::string> valid = {};  // data to validate on: one file or two; empty: some is held out
  std::string recipe = {};              // a recipe that goes with `train`; then it names the task, or it is pairs
};

struct Understood {
  Recipe recipe;
  std::string seen = {};  // what the data was taken for, and why, for people; empty: that was given, or it is pairs
};

/// The task that data in this file is for, by its name and its first lines. `why`: "'a.txt' has no tabs"; empty:
/// nothing special was seen, so it is pairs.
struct Recognised {
  const task::Task* task;
  std::string why;
};
Recognised recognise(const std::filesystem::path& file);

/// Without a recipe, the task is that of `settings` ("model.task=classification"), that of the precedent, or the one
/// whose data this looks like: pictures, running text, texts with labels, or else pairs. It is the latter, too, where
/// the precedent is a model of running text but every line has a tab: then its encoder is trained for that. Keys not in
/// `settings` stay open, but an output folder is named after the files. Throws Error, and RecipeError for wrong
/// settings.
Understood recipe_of_files(const DataFiles& files, std::span<const std::string> settings,
                           const Precedent* precedent = nullptr);

}  // namespace heed::recipe
