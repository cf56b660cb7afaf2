// Which keys a recipe has.
#pragma once

#include "heed/file/fields.h"
#include "heed/recipe/recipe.h"

namespace heed::recipe {

/// Those of all sections, for a recipe of that task, which must outlive the fields.
void add_sections(file::Fields& fields, Recipe& recipe, const task::Task& task);

// Those that must stay as they were when a training goes on.
void add_model_sections(file::Fields& fields, Recipe& recipe, const task::Task& task);
void add_train_section(file::Fields& fields, Recipe& recipe);

}  // namespace heed::recipe
