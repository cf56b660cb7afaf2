#include "heed/checkpoint/trained_model.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/fields.h"
#include "heed/base/nearest.h"
#include "heed/checkpoint/run_folder.h"
#include "heed/checkpoint/save.h"
#include "heed/task/version_1.h"
#include "heed/tensor/format/all.h"

namespace heed::trained {

TrainedModel make_model(task::Description description, task::Vocabularies vocabularies, uint64_t seed, Start start) {
  TrainedModel made{.description = std::move(description),
                    .training = {},
                    .vocabularies = std::move(vocabularies),
                    .parameters = std::make_unique<Parameters>(seed, start),
                    .model = nullptr};
  // Whoever asks for the options of a model later sees what it was made with.
  made.description.model.source_vocabulary = made.vocabularies.source->size();
  made.description.model.target_vocabulary = made.vocabularies.target->size();
  made.model = made.task().make(*made.parameters, made.description.model);
  return made;
}

task::LoadedModel TrainedModel::loaded(search::TapePool& tapes) const {
  return {.model = *model, .vocabularies = vocabularies, .description = description, .tapes = tapes};
}

int64_t TrainedModel::longest_output() const { return std::min(description.answers.longest, model->max_positions()); }

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

/// Of a checkpoint without model.toml: its config.toml, in the words of today.
bool is_version_1(const file::Checkpoint& checkpoint) { return !checkpoint.has(kDescriptionPart); }

std::string recipe_text(const file::Checkpoint& checkpoint) {
  std::string text = task::without_former_projections(checkpoint.text(kRecipePart));
  return is_version_1(checkpoint) ? task::with_words_of_today(std::move(text)) : text;
}

/// What people want to know about the training; without what only a trainer needs.
file::TrainingState summary(const file::TrainingState& all) {
  file::TrainingState kept;
  const auto keep = [&](const char* name) {
    const auto found = all.values().find(name);
    if (found != all.values().end()) std::visit([&](const auto& value) { kept.set(name, value); }, found->second);
  };
  for (const char* name : {"step", "seconds", "averaged"}) keep(name);
  if (!all.has("best_step") || all.integer("best_step") <= 0) return kept;
  for (const char* name : {"best_step", "best_value", "best_metric"}) keep(name);
  return kept;
}

}  // namespace

task::Description description_of(const file::Checkpoint& checkpoint) {
  if (is_version_1(checkpoint))
    return task::description_in_recipe(recipe_text(checkpoint), checkpoint.place_of(kRecipePart));
  return task::parse_description(checkpoint.text(kDescriptionPart), checkpoint.place_of(kDescriptionPart));
}

Training training_of(const file::Checkpoint& checkpoint) {
  constexpr const char* kMetric = "validate.metric";
  Training training;
  if (checkpoint.has(kStatePart)) training.facts = summary(checkpoint.state());
  if (training.facts.has("best_metric") && is_version_1(checkpoint))
    training.facts.set("best_metric", task::word_of_today(kMetric, training.facts.text("best_metric")));
  if (!checkpoint.has(kRecipePart)) return training;
  training.recipe = recipe_text(checkpoint);
  training.file = checkpoint.place_of(kRecipePart);
  // A training does not say by which metric its best model is the best: its recipe does.
  if (training.facts.has("best_step") && !training.facts.has("best_metric"))
    if (const std::string metric = file::peek(training.recipe, kMetric); !metric.empty())
      training.facts.set("best_metric", metric);
  return training;
}

void expect_finite(const std::vector<float>& weights, const file::Checkpoint& checkpoint, std::string_view name) {
  const auto bad = std::find_if_not(weights.begin(), weights.end(), [](float value) { return std::isfinite(value); });
  expect(bad == weights.end(), ErrorKind::file, "'{}': '{}' holds {} at index {}: the file was changed or is damaged",
         checkpoint.place_of(file::kWeightsPart), name, *bad, bad - weights.begin());
}

task::Vocabularies load_vocabularies(const file::Checkpoint& checkpoint, const task::Description& description) {
  return task::Vocabularies::parse(description, [&](const std::string& part) {
    return task::Vocabularies::Part{checkpoint.text(part), checkpoint.place_of(part)};
  });
}

namespace {

/// `format_of`: in which a weight is packed that is stored as this type; null: it stays numbers.
TrainedModel load_as(const file::Checkpoint& checkpoint, const std::function<const WeightFormat*(Dtype)>& format_of) {
  task::Description description = description_of(checkpoint);
  TrainedModel trained;
  try {
    task::Vocabularies vocabularies = load_vocabularies(checkpoint, description);
    trained = make_model(std::move(description), std::move(vocabularies), 0, Start::empty);
  } catch (const Error& error) {  // a description that makes no model was never that of one
    throw Error(ErrorKind::file, error.what());
  }
  trained.training = training_of(checkpoint);
  // One after the other, so that the numbers of the whole model are never beside its packed weights.
  checkpoint.load(file::kWeightsPart, *trained.parameters, [&](Parameter& p, Dtype stored) {
    expect_finite(p.value, checkpoint, p.name);
    if (p.product) trained.stored = stored;
    if (const WeightFormat* format = format_of(stored)) p.pack(*format);
  });
  return trained;
}

const WeightFormat* format_of_type(Dtype stored) {
  for (const WeightFormat* format : all_weight_formats())
    if (std::string_view(format->name) == name_of(stored)) return format;
  return &float32_weights;
}

/// Throws unless there is such a precision.
std::function<const WeightFormat*(Dtype)> formats_for(std::string_view precision) {
  if (precision == kStored) return format_of_type;
  const std::vector<std::string> all = precisions();
  if (std::find(all.begin(), all.end(), precision) == all.end()) throw Error(unknown_name("precision", precision, all));
  return [format = &find_weight_format(precision)](Dtype) { return format; };
}

}  // namespace

TrainedModel load_model(const file::Checkpoint& checkpoint, const WeightFormat* packed) {
  return load_as(checkpoint, [packed](Dtype) { return packed; });
}

std::vector<std::string> precisions() {
  std::vector<std::string> all = all_weight_formats().names();
  all.emplace_back(kStored);
  return all;
}

TrainedModel load_to_run(const file::Checkpoint& checkpoint, std::string_view precision) {
  return load_as(checkpoint, formats_for(precision));
}

TrainedModel load_to_run(const std::filesystem::path& folder, std::string_view name, std::string_view precision) {
  const auto formats = formats_for(precision);  // a mistake in it is no reason to try again
  TrainedModel trained;
  with_checkpoint(folder, name, [&](const file::Checkpoint& checkpoint) { trained = load_as(checkpoint, formats); });
  return trained;
}

}  // namespace heed::trained
