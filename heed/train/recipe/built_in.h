// The recipe for a built-in task, which is named in place of a recipe or data: `heed train dates`, `heed compare
// dates`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/train/recipe/recipe.h"

namespace heed::recipe {

/// Whether these files are no file at all but the name of a built-in task.
bool names_built_in_task(const std::vector<std::string>& files);

/// A small GRU with additive attention; of pictures, what fits them. Without `stop.*` in the settings, 800 updates:
/// then a comparison of the whole catalogue takes less than 20 minutes on two cores. Throws Error if there is no such
/// task, naming the nearest. With a precedent, its keys come from that, and its length is open.
Recipe recipe_for_task(const std::string& task, std::span<const std::string> settings,
                       const Precedent* precedent = nullptr);

}  // namespace heed::recipe
