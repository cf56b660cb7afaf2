// What a recipe says about attention and no attention of its model does.
#pragma once

#include <string>
#include <vector>

#include "heed/attend/census.h"
#include "heed/train/recipe/recipe.h"

namespace heed::train {

struct WithoutEffect {
  std::string key;     // "attention.source.window"
  std::string reason;  // begins with its section: "attention.source: ..."
};

/// Of the keys that were given. `made`: the attentions of the model. A value is as it was asked for if one of those
/// that it is about has it, and reads it.
std::vector<WithoutEffect> without_effect(const recipe::Recipe& recipe, const std::vector<attend::Made>& made);

/// What an attention does, in the words of a recipe: its parts, and the options that they read and that are not
/// defaults.
std::string description_of(const attend::Options& options);

}  // namespace heed::train
