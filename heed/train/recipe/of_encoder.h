// A training that starts from the encoder of a model of another task: labels from a model of masked tokens.
#pragma once

#include <string>
#include <string_view>

#include "heed/task/task.h"
#include "heed/train/recipe/recipe.h"

namespace heed::recipe {

/// Whether a training of `task` may start from the encoder of models of this recipe.
bool may_start_from_encoder(const task::Task& task, const Recipe& theirs);

/// Copies what follows from the encoder of `theirs`, a recipe of another task, for open keys: its kind, sizes and
/// heads, and how texts become tokens.
void settle_as_encoder(Recipe& recipe, const Recipe& theirs);

/// Throws RecipeError if given keys make another encoder than that of `theirs`, whose weights are called `name`.
void expect_encoder_of(const Recipe& recipe, const Recipe& theirs, std::string_view name);

}  // namespace heed::recipe
