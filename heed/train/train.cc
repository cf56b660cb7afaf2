#include "heed/train/train.h"

#include <map>
#include <utility>

#include "heed/train/pairs_file.h"
#include "heed/train/recipe/data_files.h"

namespace heed::train {

namespace {

/// The keys whose values are not those of the structs.
std::vector<std::string> settings_of(const recipe::Recipe& recipe) {
  recipe::Recipe defaults;
  std::vector<std::string> settings;
  if (recipe.model.task != defaults.model.task) settings.push_back("model.task=" + recipe.model.task);
  defaults.model.task = recipe.model.task;  // whose keys they are
  const std::map<std::string, std::string> usual = recipe::values_of(defaults);
  for (const auto& [key, value] : recipe::values_of(recipe))
    if (value != usual.at(key) && key != "output.folder") settings.push_back(key + "=" + value);
  return settings;
}

}  // namespace

predict::Predictor train(std::span<const TextPair> pairs, const std::filesystem::path& folder,
                         const TrainOptions& options) {
  recipe::DataFiles files{.train = {write_pairs(pairs, folder, "pairs").string()}};
  if (!options.valid.empty()) files.valid = {write_pairs(options.valid, folder, "valid pairs").string()};
  std::vector<std::string> settings = settings_of(options.recipe);
  settings.insert(settings.end(), options.settings.begin(), options.settings.end());
  const auto precedent = precedent_of(options.session, folder);
  auto [recipe, seen] = recipe::recipe_of_files(files, settings, precedent ? &*precedent : nullptr);
  recipe.output.folder = folder.string();
  recipe.open.erase("output.folder");
  SessionOptions session = options.session;
  session.seen = std::move(seen);
  run_session(recipe, session);
  return predict::load(folder);
}

}  // namespace heed::train
