// The recipe of a model that was trained.
#pragma once

#include <span>
#include <string>

#include "heed/checkpoint/trained_model.h"
#include "heed/train/recipe/recipe.h"

namespace heed::recipe {

/// The recipe that a model was trained with. One that was not trained here has none: then the recipe that would make
/// such a model, in which all that its description does not say is open.
Recipe of_model(const task::Description& description, const trained::Training& training);
inline Recipe of_model(const trained::TrainedModel& model) { return of_model(model.description, model.training); }

/// The recipe in a checkpoint. Throws if it has none. A mistake in it is a damaged checkpoint, not a RecipeError; a
/// mistake in `overrides` is a RecipeError.
Recipe of_checkpoint(const file::Checkpoint& checkpoint, std::span<const std::string> overrides = {});

/// Throws if there is no recipe, for what needs one: `why` ends the sentence.
void expect_recipe(const trained::Training& training, std::string_view model, std::string_view why);

}  // namespace heed::recipe
