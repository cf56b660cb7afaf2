// The recipe for a comparison on a built-in task, which is named in place of a recipe or data.
#pragma once

#include <span>
#include <string>

#include "heed/train/recipe/recipe.h"

namespace heed::compare {

/// A small GRU with additive attention. Without `stop.*` in the settings, 800 updates: then the whole catalogue takes
/// less than 20 minutes on two cores. Throws Error if there is no such task, naming the nearest.
recipe::Recipe recipe_for_task(const std::string& task, std::span<const std::string> settings);

}  // namespace heed::compare
