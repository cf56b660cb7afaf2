#include "heed/trained/trained_model.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "heed/file/fields.h"
#include "heed/file/run_folder.h"
#include "heed/tensor/error.h"

namespace heed::trained {

TrainedModel make_model(const recipe::Recipe& recipe, task::Vocabularies vocabularies, Start start) {
  TrainedModel made{recipe, std::move(vocabularies), std::make_unique<Parameters>(recipe.train.seed, start), nullptr};
  // With what follows from the data: whoever asks the recipe of a model later sees what the model was made with.
  made.recipe.model = recipe::model_options(recipe, made.vocabularies.source->size(), made.vocabularies.target->size());
  made.model = recipe.task().make(*made.parameters, made.recipe.model);
  return made;
}

task::Answering TrainedModel::answering(search::TapePool& tapes) const {
  return {.model = *model,
          .vocabularies = vocabularies,
          .longest = recipe.validate.longest,
          .max_source = recipe.data.max_source,
          .labels_between = recipe.data.labels_between,
          .options = recipe.model,
          .documents = recipe.data.documents,
          .tapes = tapes};
}

int64_t TrainedModel::longest_output() const { return std::min(recipe.validate.longest, model->max_positions()); }

namespace {

file::Checkpoint open_checkpoint(const std::filesystem::path& folder, std::string_view name) {
  std::error_code ignored;
  expect(std::filesystem::exists(folder, ignored), ErrorKind::missing, "there is no model '{}'", folder.string());
  if (!std::filesystem::is_directory(folder, ignored) || std::filesystem::exists(folder / "MANIFEST.json", ignored))
    return file::Checkpoint::open(folder, file::Purpose::run);
  const file::RunFolder run(folder);
  if (name != "best" || run.best_name()) return run.open(name, file::Purpose::run);
  file::RunFolder::Newest newest = run.newest(file::Purpose::run);
  expect(newest.checkpoint.has_value(), ErrorKind::file, "'{}' holds no checkpoint that can be used{}", folder.string(),
         newest.damaged.empty() ? "" : ": " + newest.damaged.front().reason);
  return std::move(*newest.checkpoint);
}

/// The content of a training folder, to notice changes.
std::pair<std::vector<std::string>, std::string> content_of(const std::filesystem::path& folder) {
  const file::RunFolder run(folder);
  try {
    return {run.names(), run.best_name().value_or("")};
  } catch (const Error& error) {
    return {run.names(), error.what()};  // any stable text will do; opening the best one reports it
  }
}

}  // namespace

void with_checkpoint(const std::filesystem::path& folder, std::string_view name,
                     const std::function<void(const file::Checkpoint&)>& use) {
  constexpr int kAttempts = 20;
  for (int attempt = 1;; ++attempt) {
    const auto before = content_of(folder);
    try {
      return use(open_checkpoint(folder, name));
    } catch (const Error&) {
      if (attempt == kAttempts || content_of(folder) == before) throw;
    }
  }
}

TrainedModel load_model(const std::filesystem::path& folder, std::string_view name, const WeightFormat* packed) {
  TrainedModel trained;
  with_checkpoint(folder, name, [&](const file::Checkpoint& checkpoint) { trained = load_model(checkpoint, packed); });
  return trained;
}

namespace {

constexpr const char* kVersionPart = "model.toml";

/// Checkpoints of 0.1 do not say which version they are of.
recipe::Version version_of(const file::Checkpoint& checkpoint) {
  return checkpoint.has(kVersionPart) ? recipe::Version::today : recipe::Version::one;
}

}  // namespace

std::pair<std::string, std::string> version_part() {
  return {kVersionPart, fmt::format("version = {}\n", recipe::kVersion)};
}

recipe::Recipe recipe_of(const file::Checkpoint& checkpoint, std::span<const std::string> overrides) {
  const std::string text = checkpoint.text("config.toml"), file = checkpoint.place_of("config.toml");
  const recipe::Version version = version_of(checkpoint);
  recipe::Recipe recipe;
  try {
    recipe = recipe::parse(text, file, {}, nullptr, version);
  } catch (const recipe::RecipeError& error) {
    throw Error(ErrorKind::file, error.what());
  }
  const std::vector<std::string> its_own = std::move(recipe.notes);  // of no use to those who did not write it
  recipe.notes.clear();
  if (overrides.empty()) return recipe;
  recipe = recipe::parse(text, file, overrides, nullptr, version);
  std::erase_if(recipe.notes, [&](const std::string& note) { return std::ranges::count(its_own, note) > 0; });
  return recipe;
}

std::string config_to_copy(const file::Checkpoint& checkpoint) {
  std::string text = checkpoint.text("config.toml");
  const bool is_beside = file::peek(text, "data.relative_to") == data::kToRecipe;
  // In the words of today: a copy is of this version.
  return is_beside || version_of(checkpoint) != recipe::Version::today ? recipe::text_of(recipe_of(checkpoint)) : text;
}

void expect_finite(const std::vector<float>& weights, const file::Checkpoint& checkpoint, std::string_view name) {
  const auto bad = std::find_if_not(weights.begin(), weights.end(), [](float value) { return std::isfinite(value); });
  expect(bad == weights.end(), ErrorKind::file, "'{}': '{}' holds {} at index {}: the file was changed or is damaged",
         checkpoint.place_of(file::kWeightsPart), name, *bad, bad - weights.begin());
}

TrainedModel load_model(const file::Checkpoint& checkpoint, const WeightFormat* packed) {
  const recipe::Recipe recipe = recipe_of(checkpoint);
  TrainedModel trained;
  try {
    trained = make_model(recipe, task::Vocabularies::load(checkpoint, recipe.data), Start::empty);
  } catch (const Error& error) {  // a recipe that makes no model cannot have been trained
    throw Error(ErrorKind::file, error.what());
  }
  // One after the other, so that the numbers of the whole model are never beside its packed weights.
  checkpoint.load(file::kWeightsPart, *trained.parameters, [&](Parameter& p) {
    expect_finite(p.value, checkpoint, p.name);
    if (packed) p.pack(*packed);
  });
  return trained;
}

}  // namespace heed::trained
