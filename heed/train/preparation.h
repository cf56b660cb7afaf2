// Everything before the first update: the data is read, keys that the recipe leaves open are chosen to fit it, texts
// become ids.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heed/file/checkpoint.h"
#include "heed/recipe/recipe.h"
#include "heed/task/task.h"
#include "heed/trained/trained_model.h"

namespace heed::train {

/// Where a training begins; at most one of the two.
struct Beginning {
  const file::Checkpoint* checkpoint = nullptr;    // it goes on: the vocabularies and the recipe's choices are there
  const trained::TrainedModel* weights = nullptr;  // from trained weights, with other data
  std::string weights_name = {};                   // for messages
};

struct Prepared {
  recipe::Recipe recipe;                 // with every key decided
  std::vector<task::Suggestion> chosen;  // keys that were open
  task::Vocabularies vocabularies;
  task::Corpus corpus;  // its warnings first those about the length of the training
  int64_t updates_per_epoch = 0;
};

/// Throws RecipeError where the recipe makes no model, or not one that takes the weights; Error where the data cannot
/// be used. `tell` is called with what is done next, as "reading the data".
Prepared prepare(const recipe::Recipe& recipe, const Beginning& beginning,
                 const std::function<void(const std::string&)>& tell = {});

/// Throws RecipeError where the recipe makes no model, before any data is read.
void check_model(const recipe::Recipe& recipe);

}  // namespace heed::train
