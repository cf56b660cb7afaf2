#include "heed/compare/built_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "heed/data/built_in_task.h"

namespace heed::compare {

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

recipe::Recipe recipe_for_task(const std::string& task, std::span<const std::string> settings) {
  std::vector<std::string> all = {"data.task=" + data::find_built_in_task(task).name};
  all.insert(all.end(), settings.begin(), settings.end());
  const bool ends =
      std::any_of(all.begin(), all.end(), [](const auto& setting) { return setting.starts_with("stop."); });
  if (!ends) all.push_back(fmt::format("stop.steps={}", kUpdates));
  return recipe::parse(kRecipe, fmt::format("the recipe for {}", task), all);
}

}  // namespace heed::compare
