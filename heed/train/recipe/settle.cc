#include "heed/train/recipe/settle.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "heed/task/task.h"
#include "heed/train/recipe/of_encoder.h"

namespace heed::recipe {

std::vector<task::Suggestion> settle(Recipe& recipe, std::span<const task::Suggestion> suggestions) {
  std::vector<task::Suggestion> taken;
  std::vector<std::string> settings;
  for (const task::Suggestion& each : suggestions)
    // A metric of outputs needs decoded outputs.
    if (is_open(recipe, each.key) && (each.key != "validate.metric" || recipe.validate.decode != 0)) {
      taken.push_back(each);
      settings.push_back(each.key + "=" + each.value);
    }
  set(recipe, settings);
  return taken;
}

bool is_among(std::string_view key, std::span<const std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return key.starts_with(beginning); });
}

void settle_as(Recipe& recipe, const Recipe& from, std::span<const std::string_view> beginnings) {
  std::set<std::string> keys;
  for (const std::string& key : recipe.open)
    if (!is_open(from, key) && is_among(key, beginnings)) keys.insert(key);
  // A place that only the other one names.
  for (const std::string& key : places_of(from))
    if (is_among(key, beginnings)) keys.insert(key);
  for (const std::string& key : places_of(recipe)) keys.erase(key);
  copy(recipe, from, keys);
}

namespace {

/// Keys that define a model and its tokens.
constexpr std::string_view kOfTheModel[] = {
    "model.",          "attention.",         "data.source_tokens",   "data.source_size",
    "data.source_min", "data.target_tokens", "data.target_size",     "data.target_min",
    "data.joint",      "data.sentencepiece", "data.text_tokens",     "data.text_size",
    "data.text_min",   "data.documents",     "data.label_separator", "data.second_text_column",
    "validate.metric", "validate.longest"};

/// Keys that stay the same when a training run is resumed.
constexpr std::string_view kOfTheTraining[] = {"train.", "stop.", "validate."};

}  // namespace

bool is_of_the_model(std::string_view key) { return is_among(key, kOfTheModel); }

void settle_as(Recipe& recipe, const Precedent& precedent) {
  if (recipe.model.task != precedent.recipe.model.task) return settle_as_encoder(recipe, precedent.recipe);
  settle_as(recipe, precedent.recipe, kOfTheModel);
  if (precedent.resumed) settle_as(recipe, precedent.recipe, kOfTheTraining);
}

int64_t updates_in_all(const Recipe& recipe, int64_t updates_per_epoch) {
  const int64_t steps = recipe.stop.steps, of_epochs = recipe.stop.epochs * updates_per_epoch;
  return steps > 0 && of_epochs > 0 ? std::min(steps, of_epochs) : std::max(steps, of_epochs);
}

namespace {

/// Updates after which a model of this kind has learned most.
int64_t updates_for(const Recipe& recipe, bool goes_on) {
  if (goes_on) return 400;
  return recipe.task().stacks(recipe.model).updates_to_learn;
}

/// No limit was given.
bool has_no_end(const StopOptions& s) { return s.steps == 0 && s.epochs == 0 && s.minutes == 0 && s.patience == 0; }

std::string number(int64_t value) { return fmt::format("{}", value); }

/// `known`: updates_in_all().
int64_t updates_with(int64_t known, const Pace& pace) {
  if (pace.updates_in_time == 0) return known;
  return known > 0 ? std::min(known, pace.updates_in_time) : pace.updates_in_time;
}

}  // namespace

Pace pace_within(double limit, double update, double validation) {
  constexpr double kShareOfValidations = 0.25, kMostUpdates = 1e9;
  Pace pace;
  const double most = static_cast<double>(pace.validations);
  const double validations = std::clamp(kShareOfValidations * limit / std::max(validation, 1e-9), 1.0, most);
  pace.validations = static_cast<int64_t>(validations);
  const double left = limit - static_cast<double>(pace.validations) * validation;
  pace.updates_in_time = static_cast<int64_t>(std::clamp(left / std::max(update, 1e-9), 1.0, kMostUpdates));
  return pace;
}

std::vector<task::Suggestion> suggest_length(const Recipe& recipe, const Pace& pace, bool goes_on) {
  constexpr int64_t kFewestEpochs = 5, kMostEpochs = 200;
  std::vector<task::Suggestion> all;
  Recipe r = recipe;  // with what is chosen here
  if (pace.updates_in_time > 0 && is_open(r, "stop.steps")) {
    // The end of a time limit, as updates: the learning rate falls until then, and a resumed run goes on in the same
    // way.
    r.stop.steps = pace.updates_in_time;
    all.push_back({"stop.steps", number(r.stop.steps),
                   fmt::format("as many as {:g} minutes leave time for, judged by the first ones", r.stop.minutes)});
  }
  // A cosine needs a known end; a time limit that nobody measured does not give one.
  const bool choose_epochs =
      is_open(r, "stop.epochs") && (has_no_end(r.stop) || (r.train.schedule.kind == "cosine" && r.stop.steps == 0));
  if (choose_epochs) {
    const int64_t wanted = updates_for(r, goes_on);
    r.stop.epochs = std::clamp((wanted + pace.updates_per_epoch - 1) / pace.updates_per_epoch,
                               goes_on ? 2 : kFewestEpochs, kMostEpochs);
    all.push_back({"stop.epochs", number(r.stop.epochs), fmt::format("{} updates each", pace.updates_per_epoch)});
  }
  const int64_t known = updates_in_all(r, pace.updates_per_epoch), updates = updates_with(known, pace);
  if (known > 0) all.push_back({"train.schedule", "cosine", ""});
  // A twentieth of the training; if its end is not known, two epochs.
  const int64_t warmup = updates > 0 ? updates / 20 : 2 * pace.updates_per_epoch;
  all.push_back(
      {"train.warmup", number(std::clamp<int64_t>(warmup, 1, 1000)), updates > 0 ? "a twentieth of all updates" : ""});
  // Twenty times, but not so often that validation takes longer than training.
  const int64_t every = updates > 0 ? updates / pace.validations : pace.updates_per_epoch;
  const int64_t fewest = std::min<int64_t>(20, std::max<int64_t>(updates, 1));
  all.push_back({"validate.every", number(std::clamp<int64_t>(every, fewest, std::max<int64_t>(1000, fewest))), ""});
  std::erase_if(all, [&](const task::Suggestion& each) { return !is_open(recipe, each.key); });
  return all;
}

std::vector<std::string> length_warnings(const Recipe& recipe, const Pace& pace) {
  std::vector<std::string> warnings;
  const int64_t known = updates_in_all(recipe, pace.updates_per_epoch), updates = updates_with(known, pace);
  if (updates == 0) return warnings;
  const std::string end = updates == known ? fmt::format("{} updates", updates)
                                           : fmt::format("about {} updates (stop.minutes = {:g}, judged by the first)",
                                                         updates, recipe.stop.minutes);
  const int64_t warmup = recipe.train.schedule.warmup;
  if (warmup >= updates)
    warnings.push_back(
        fmt::format("training ends after {}, before its warm-up of {}: the learning rate never reaches "
                    "train.learning_rate. A smaller train.warmup, or longer training ([stop]), learns "
                    "more",
                    end, warmup));
  if (recipe.validate.every > updates)
    warnings.push_back(
        fmt::format("training ends after {}, before the first validation (validate.every = {}): it will be validated "
                    "only at the end. A smaller validate.every shows progress",
                    end, recipe.validate.every));
  return warnings;
}

}  // namespace heed::recipe
