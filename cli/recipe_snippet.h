// How a recipe names a mechanism: what the texts, the JSON and the pages show.
#pragma once

#include <string>
#include <vector>

#include "cli/facts.h"

namespace heed::cli {

/// The shortest recipe that takes the mechanism, as TOML: with [model] kind where only one kind of model takes it. It
/// was tried: the model was really made. Empty where no model takes it.
std::string recipe_snippet(const attend::Entry& entry, const std::vector<Setting>& settings);

/// What is said in its place where it is empty.
const char* without_recipe(const attend::Entry& entry);

}  // namespace heed::cli
