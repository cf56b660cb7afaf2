// Everything before the first update: reads the data, chooses open keys of the recipe to fit it, and turns texts into
// ids.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/attend/census.h"
#include "heed/checkpoint/checkpoint.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/task/task.h"
#include "heed/train/objective/reward.h"
#include "heed/train/recipe/recipe.h"

namespace heed::train {

/// Where a training run starts; at most one of the two.
struct StartFrom {
  const file::Checkpoint* checkpoint = nullptr;    // resume: it has the vocabularies and the chosen keys
  const trained::TrainedModel* weights = nullptr;  // fine-tune: start from these weights, with other data
  std::string weights_name = {};                   // for messages
  /// With stop.minutes, a few updates are timed on a copy of the model, so that the length of the run can be chosen. A
  /// resumed run has it from its checkpoint.
  bool timed = false;
  objective::RewardFunction reward = {};  // train.reward = "own"
  bool checked = false;                   // check_model() was asked about this recipe
};

struct TrainingSetup {
  recipe::Recipe recipe;                 // with every key set
  std::vector<task::Suggestion> chosen;  // keys that were open
  trained::TrainedModel model;           // its weights are not there yet: Parameters::draw()
  task::Corpus corpus;                   // its warnings begin with those about the length of the run
  int64_t updates_per_epoch = 0;
};

/// Throws RecipeError if the recipe makes no model, or one that does not fit the weights; Error if the data cannot be
/// used. `tell` is called with what is done next, such as "reading the data".
TrainingSetup prepare(const recipe::Recipe& recipe, const StartFrom& beginning,
                      const std::function<void(const std::string&)>& tell = {});

/// The recipe for weights to start from, called `name`: open keys follow from them. Throws RecipeError if given ones do
/// not agree with them.
recipe::Recipe fitted(const recipe::Recipe& recipe, const trained::TrainedModel& weights, std::string_view name);

/// What the attentions of its model do, before any data is read. Throws RecipeError if it makes no model.
std::vector<attend::Made> attentions_of(const recipe::Recipe& recipe);

/// Throws RecipeError if the recipe makes no model, before any data is read, or names something that has no effect.
void check_model(const recipe::Recipe& recipe);
/// The same, but a recipe that makes no model, or one that ignores something, may make one with what is chosen for its
/// data, which is then read.
void check_model_on_data(const recipe::Recipe& recipe);

}  // namespace heed::train
