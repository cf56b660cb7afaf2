// What `heed train` is given: a recipe, or the data itself.
#pragma once

#include <string>
#include <vector>

#include "heed/recipe/recipe.h"

namespace heed::cli {

/// `files`: one recipe, or one file of pairs separated by tabs, or a file of sources and one of targets. A recipe ends
/// with .toml, or begins as one. For data, all that is not in `settings` is left open, and the folder of the result is
/// named after the files. Throws Error.
recipe::Recipe recipe_of_files(const std::vector<std::string>& files, const std::vector<std::string>& settings);

}  // namespace heed::cli
