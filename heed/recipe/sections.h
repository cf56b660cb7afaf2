// The keys of a recipe.
#pragma once

#include "heed/file/fields.h"
#include "heed/recipe/recipe.h"

namespace heed::recipe {

/// The keys of all sections, for a recipe of that task. The recipe must outlive the fields.
void add_sections(file::Fields& fields, Recipe& recipe, const task::Task& task);

// The keys that must not change when training is resumed.
void add_model_sections(file::Fields& fields, Recipe& recipe, const task::Task& task);
void add_train_section(file::Fields& fields, Recipe& recipe);

}  // namespace heed::recipe
