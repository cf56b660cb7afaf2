#include "heed/train/recipe/of_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/fields.h"
#include "heed/train/recipe/sections.h"
#include "heed/train/recipe/settle.h"

namespace heed::recipe {

namespace {

Recipe parsed(const task::Description& description, const trained::Training& training) {
  Recipe recipe;
  try {
    recipe = parse(training.recipe, training.file);
  } catch (const RecipeError& error) {
    throw Error(ErrorKind::file, error.what());
  }
  recipe.notes.clear();  // about its words: of no use to those who did not write it
  const std::string different = task::difference(describe(recipe), description);
  expect(different.empty(), ErrorKind::file, "'{}' is the recipe of another model: {}", training.file, different);
  return recipe;
}

/// Keys of the model's part of a recipe that a description does not say: how its vocabularies were learned, where a
/// second text stands, and how trainings are judged.
bool is_unsaid(std::string_view key) {
  const bool of_vocabularies = key.starts_with("data.") && (key.ends_with("_size") || key.ends_with("_min_count"));
  return of_vocabularies || key == "data.sentencepiece" || key == "data.second_text_column" || key == "validate.metric";
}

Recipe described(const task::Description& d) {
  Recipe r;
  const task::Task& task = d.task();
  task.set_defaults(r.data, r.model);
  r.model = d.model;
  r.data.source.kind = d.source.tokens;
  r.data.target.kind = d.target.tokens;
  r.data.joint = d.joint;
  r.data.max_source = d.answers.max_source;
  r.data.label_separator = d.answers.label_separator;
  r.data.documents = d.answers.documents;
  r.validate.longest = d.answers.longest;
  file::Fields fields;
  add_sections(fields, r, task);
  for (const std::string& key : fields.keys())
    if (!is_of_the_model(key) || is_unsaid(key)) r.open.insert(key);
  return r;
}

}  // namespace

Recipe of_model(const task::Description& description, const trained::Training& training) {
  return training.recipe.empty() ? described(description) : parsed(description, training);
}

void expect_recipe(const trained::Training& training, std::string_view model, std::string_view why) {
  expect(!training.recipe.empty(), ErrorKind::file, "'{}' was not trained here: it has no recipe (config.toml), {}",
         model, why);
}

Recipe of_checkpoint(const file::Checkpoint& checkpoint, std::span<const std::string> overrides) {
  const trained::Training training = trained::training_of(checkpoint);
  expect_recipe(training, checkpoint.folder().string(), "so its training cannot be resumed");
  Recipe recipe = parsed(trained::description_of(checkpoint), training);
  if (overrides.empty()) return recipe;
  const std::vector<std::string> its_own = parse(training.recipe, training.file).notes;
  recipe = parse(training.recipe, training.file, overrides);
  std::erase_if(recipe.notes, [&](const std::string& note) { return std::ranges::count(its_own, note) > 0; });
  return recipe;
}

}  // namespace heed::recipe
