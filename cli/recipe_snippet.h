// How to use a mechanism in a recipe, for the text, the JSON and the pages.
#pragma once

#include <string>
#include <vector>

#include "cli/facts.h"

namespace heed::cli {

/// The shortest recipe that uses the mechanism, as TOML, with [model] kind if only one kind of model takes it. It was
/// tried: the model was really made. Empty if no model takes it.
std::string recipe_snippet(const attend::Entry& entry, const std::vector<Setting>& settings);

/// What to say instead if it is empty.
const char* without_recipe(const attend::Entry& entry);

}  // namespace heed::cli
