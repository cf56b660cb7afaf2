// The files given to `heed train` and `heed compare`: a recipe, or the data itself.
#pragma once

#include <string>
#include <vector>

#include "heed/train/recipe/data_files.h"

namespace heed::cli {

/// Says which words of the recipe are called otherwise now.
void tell_notes(const recipe::Recipe& recipe);

/// recipe::recipe_of_files(), which tells what the data was taken for, and the notes.
recipe::Understood recipe_of_files(const std::vector<std::string>& files, const std::vector<std::string>& settings,
                                   const recipe::Precedent* precedent = nullptr);

}  // namespace heed::cli
