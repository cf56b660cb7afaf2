#include "cli/train_input.h"

#include <fmt/format.h>

#include "cli/terminal.h"

namespace heed::cli {

void tell_notes(const recipe::Recipe& recipe) {
  for (const std::string& each : recipe.notes) note(fmt::format("heed: {}\n", each));
}

recipe::Understood recipe_of_files(const std::vector<std::string>& files, const std::vector<std::string>& settings,
                                   const recipe::Precedent* precedent) {
  recipe::Understood understood = recipe::recipe_of_files({.train = files}, settings, precedent);
  if (!understood.seen.empty()) note(fmt::format("heed: {}\n", understood.seen));
  tell_notes(understood.recipe);
  return understood;
}

}  // namespace heed::cli
