// The files given to `heed train`: a recipe, or the data itself.
#pragma once

#include <string>
#include <vector>

#include "heed/recipe/recipe.h"

namespace heed::cli {

/// `files`: one recipe, or one file of pairs separated by tabs, or a file of sources and one of targets. A recipe is
/// named .toml, or begins with a section. For data, every key not in `settings` stays open, and the output folder is
/// named after the files. Throws Error.
recipe::Recipe recipe_of_files(const std::vector<std::string>& files, const std::vector<std::string>& settings);

}  // namespace heed::cli
