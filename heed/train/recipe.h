// Everything that a training is made of, as options: what a recipe says. `heed train --help` shows all of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "heed/data/pairs.h"
#include "heed/file/recipe.h"
#include "heed/model/seq2seq.h"
#include "heed/tensor/error.h"
#include "heed/text/tokeniser.h"
#include "heed/train/trainer.h"

namespace heed::train {

/// A recipe with mistakes: a line for each.
class RecipeError : public Error {
 public:
  explicit RecipeError(const std::string& message) : Error(ErrorKind::recipe, message) {}
};

struct DataOptions {
  std::string task = "none";  // of heed/data/built_in_task.h; none: the data stands in files
  int64_t examples = 50'000;  // of a task
  int64_t valid_examples = 2'000;

  std::string folder;  // that the names below begin in; empty: the folder the program was started in
  PairFiles train, valid;
  double held_out = 0.02;  // without files for validation: the share of the sources that is kept for it

  TokeniserOptions source, target;
  bool joint = false;  // one vocabulary for both sides, made as `source` says
  int64_t max_source = 0, max_target = 0;
};

/// When a training ends. The first limit that is reached counts; 0: no limit.
struct StopOptions {
  int64_t steps = 0;
  int64_t epochs = 0;
  double minutes = 0;
  int64_t patience = 0;  // validations in a row that are no better than the best
};

struct ValidateOptions {
  int64_t every = 500;  // updates
  std::string metric = "loss";
  int64_t decode = 500;
  int64_t longest = 200;
  int64_t samples = 3;
};

struct OutputOptions {
  std::string folder;
  int64_t keep_last = 3;
  double checkpoint_minutes = 10;
  int64_t log_every = 10;
};

/// Tokens of an output or a sequence at most, whoever asks.
inline constexpr int64_t kLongest = 1'000'000;

struct Recipe {
  std::string file = {};  // that it was read from, for messages
  DataOptions data;
  model::Seq2SeqOptions model;
  TrainerOptions train;
  StopOptions stop;
  ValidateOptions validate;
  OutputOptions output;
};

/// From TOML and "section.name=value" overrides. Throws RecipeError.
Recipe read_recipe(const std::filesystem::path& path, std::span<const std::string> overrides = {});
Recipe parse_recipe(std::string_view toml, std::string_view file, std::span<const std::string> overrides = {});

/// All of it as TOML with comments. A folder for the result whose name is not UTF-8 is left out.
std::string recipe_text(const Recipe& recipe);

/// A short recipe that runs as it is.
std::string_view example_recipe();

/// What must stay as it was when a training goes on: where it differs between the two, as "train.seed is 2, was 1".
std::string difference(const Recipe& now, const Recipe& before);

}  // namespace heed::train
