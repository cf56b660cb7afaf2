// Everything that a training is made of, as options: what a recipe says. `heed train --help` shows all of it.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "heed/data/options.h"
#include "heed/model/options.h"
#include "heed/recipe/options.h"
#include "heed/task/task.h"
#include "heed/tensor/error.h"

namespace heed::recipe {

/// A recipe with mistakes: a line for each.
class RecipeError : public Error {
 public:
  explicit RecipeError(const std::string& message) : Error(ErrorKind::recipe, message) {}
};

struct Recipe {
  std::string file = {};  // that it was read from, for messages
  data::Options data;
  model::Options model;
  TrainerOptions train;
  StopOptions stop;
  ValidateOptions validate;
  OutputOptions output;
  /// Keys that nobody has decided ("train.warmup"): a training chooses them to fit the data (settle.h). A recipe that
  /// was not parsed has none: what its fields hold was meant.
  std::set<std::string> open = {};

  const task::Task& task() const;  // that model.task names
};

bool is_open(const Recipe& recipe, std::string_view key);

/// From TOML and "section.name=value" overrides. Throws RecipeError.
Recipe read(const std::filesystem::path& path, std::span<const std::string> overrides = {});
Recipe parse(std::string_view toml, std::string_view file, std::span<const std::string> overrides = {});

/// All of it as TOML with comments. A folder for the result whose name is not UTF-8 is left out.
std::string text_of(const Recipe& recipe);
/// Only the keys that are not open, without comments.
std::string short_text_of(const Recipe& recipe);

/// Every key with its value as TOML writes it: "model.width" and "128".
std::map<std::string, std::string> values_of(const Recipe& recipe);
/// Changes keys, each "section.name=value"; they are open no more. Throws Error.
void set(Recipe& recipe, std::span<const std::string> settings);

/// A short recipe that runs as it is.
std::string_view example();

/// What must stay as it was when a training goes on: where it differs between the two, as "train.seed is 2, was 1".
std::string difference(const Recipe& now, const Recipe& before);

}  // namespace heed::recipe
