// Models of version 1, which heed 0.1 wrote: a checkpoint without model.toml, described by the recipe of its training
// alone (config.toml). This is the only place that knows them.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "heed/task/description.h"

namespace heed::task {

/// A recipe of version 1 with the words of today: a word that meant something else then is replaced. Whatever reads
/// such a recipe or a value of it reads it through this, once.
std::string with_words_of_today(std::string recipe);
/// The same for one value that stands elsewhere, such as the name of a metric in state.json.
std::string word_of_today(std::string_view key, std::string_view word);

/// attention.project = false and attention.project_output = false, which every file of earlier releases says, meant
/// that an attention has what it needs. Now they mean what they say, and files that heed writes say them of
/// [attention.all]. Of a recipe: the text without those lines.
std::string without_former_projections(std::string recipe);
/// Of a description, whose keys `given` were.
void forget_former_projections(model::Options& model, const std::set<std::string>& given);

/// What a recipe, with the words of today, says of the model. Keys of the training alone are not looked at. Throws with
/// every mistake, an ErrorKind::file.
Description description_in_recipe(std::string_view recipe, std::string_view file);

}  // namespace heed::task
