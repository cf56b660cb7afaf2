// The keys of a recipe.
#pragma once

#include "heed/base/fields.h"
#include "heed/train/recipe/recipe.h"

namespace heed::recipe {

/// The keys of all sections, for a recipe of that task. The recipe must outlive the fields.
void add_sections(file::Fields& fields, Recipe& recipe, const task::Task& task);

/// [train]. Its keys, like those of the model (task/model_keys.h), must not change when training is resumed.
void add_train_section(file::Fields& fields, Recipe& recipe);

/// The task decides which keys exist. A task that does not exist is reported later, with its line, among the mistakes.
const task::Task& task_of(std::string_view toml, std::span<const std::string> overrides, const Precedent* precedent);

/// The text of a file. Throws RecipeError.
std::string read_recipe(const std::filesystem::path& path);

}  // namespace heed::recipe
