// A recipe: everything that defines a training run, as options. `heed train RECIPE --show` prints all of it.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/data/options.h"
#include "heed/model/options.h"
#include "heed/train/recipe/options.h"

namespace heed::file {
struct FieldDifference;  // fields.h
}
namespace heed::task {
struct Description;  // description.h
class Task;
}  // namespace heed::task

namespace heed::recipe {

/// A recipe with mistakes, one per line of the message.
class RecipeError : public Error {
 public:
  explicit RecipeError(const std::string& message) : Error(ErrorKind::recipe, message) {}
};

struct Recipe {
  std::string file = {};  // where it was read from, for messages
  data::Options data = {};
  model::Options model = {};
  TrainerOptions train = {};
  StopOptions stop = {};
  ValidateOptions validate = {};
  OutputOptions output = {};
  /// Open keys, which were not given ("train.warmup"): training chooses them to fit the data (settle.h). A recipe that
  /// was not parsed has none: all its fields count as given.
  std::set<std::string> open = {};
  std::vector<std::string> notes = {};  // words of it that are called otherwise now, one sentence each

  const task::Task& task() const;  // that model.task names
};

/// What its model is: all of the recipe that running it needs.
task::Description describe(const Recipe& recipe);

bool is_open(const Recipe& recipe, std::string_view key);

/// What open keys follow from before anything is checked or chosen: the recipe of the weights that a training run
/// starts from, or of the checkpoint that it resumes from.
struct Precedent {
  Recipe recipe;
  bool resumed = false;  // then not only model and tokens follow, but also how it is trained
};

/// From TOML and "section.name=value" overrides. All names of data become relative to the current folder. Throws
/// RecipeError.
Recipe read(const std::filesystem::path& path, std::span<const std::string> overrides = {});
Recipe parse(std::string_view toml, std::string_view file, std::span<const std::string> overrides = {},
             const Precedent* precedent = nullptr);
/// The recipe with its open keys as the precedent has them. Throws RecipeError if they contradict the given ones.
Recipe following(const Recipe& recipe, const Precedent& precedent);

/// The whole recipe as TOML with comments. An output folder whose name is not UTF-8 is left out.
std::string text_of(const Recipe& recipe);
/// Only the keys that are not open, without comments.
std::string short_text_of(const Recipe& recipe);

/// The same two for a file in `folder`, which works from any folder, and after it was moved together with the data:
/// data.folder and data.relative_to say where the data is, seen from the file.
std::string text_beside(const Recipe& recipe, const std::filesystem::path& folder);
std::string short_text_beside(const Recipe& recipe, const std::filesystem::path& folder);

/// Every key with its value in TOML: "model.width" and "128".
std::map<std::string, std::string> values_of(const Recipe& recipe);
/// Every key that a recipe of some task may have, with the words that it takes; none if it takes others, such as
/// numbers.
std::map<std::string, std::vector<std::string>> words_of_keys();
/// The keys of [attention.PLACE] that it names.
std::set<std::string> places_of(const Recipe& recipe);
/// Whether a recipe of this task has the key, or would have it once it is named.
bool has_key(const Recipe& recipe, const std::string& key);
/// The keys that both have, with other values.
std::vector<file::FieldDifference> differences(const Recipe& now, const Recipe& before);
/// Copies the values of these keys from another recipe, as far as it has them; they are no longer open.
void copy(Recipe& recipe, const Recipe& from, const std::set<std::string>& keys);
/// Sets keys, each "section.name=value"; they are no longer open. Throws Error.
void set(Recipe& recipe, std::span<const std::string> settings);

/// A short, complete recipe.
std::string_view example();

/// Differences in keys that must not change when training is resumed: "train.seed is 2, was 1".
std::string difference(const Recipe& now, const Recipe& before);

}  // namespace heed::recipe
