#include "heed/train/recipe/built_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "heed/data/built_in_task.h"
#include "heed/task/all.h"

namespace heed::recipe {

namespace {
constexpr const char* kRecipe = R"(
[data]
examples = 20000
valid_examples = 500
source_tokens = "characters"
target_tokens = "characters"

[model]
kind = "rnn"
cell = "gru"
width = 96
dropout = 0.0

[attention]
score = "additive"

[train]
batch_tokens = 1024
learning_rate = 0.003
label_smoothing = 0.0

[validate]
metric = "exact"
decode = 500
longest = 30

[output]
keep_last = 1
)";
constexpr int64_t kUpdates = 800;
}  // namespace

bool names_built_in_task(const std::vector<std::string>& files) {
  std::error_code ignored;
  return files.size() == 1 && !std::filesystem::exists(files.front(), ignored) &&
         data::built_in_tasks().look_up(files.front());
}

Recipe recipe_for_task(const std::string& name, std::span<const std::string> settings, const Precedent* precedent) {
  const data::BuiltInTask& task = data::find_built_in_task(name);
  std::vector<std::string> all = {"data.task=" + task.name};
  if (task.pictures && !precedent) all.push_back(fmt::format("model.task={}", task::picture_task().name));
  all.insert(all.end(), settings.begin(), settings.end());
  const bool small = !task.pictures && !precedent;
  const bool ends =
      std::any_of(all.begin(), all.end(), [](const auto& setting) { return setting.starts_with("stop."); });
  if (small && !ends) all.push_back(fmt::format("stop.steps={}", kUpdates));
  return parse(small ? kRecipe : "", fmt::format("the recipe for {}", task.name), all, precedent);
}

}  // namespace heed::recipe
