// A recipe that trains in a moment, and results that were never trained.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/compare/comparison.h"
#include "tests/base/folder.h"
#include "tests/base/temporary.h"

namespace heed::compare::test {

using heed::test::TemporaryFolder;

inline constexpr const char* kSmall = R"(
[data]
task = "reverse"
examples = 60
valid_examples = 10
source_tokens = "characters"
target_tokens = "characters"
[model]
kind = "rnn"
width = 8
[attention]
score = "additive"
[train]
batch_tokens = 128
learning_rate = 0.01
[stop]
steps = 12
[validate]
every = 4
metric = "cer"
decode = 6
longest = 20
)";

inline recipe::Recipe small_recipe(const std::vector<std::string>& settings = {}) {
  return recipe::parse(kSmall, "small.toml", settings);
}

/// The keys that are open take their defaults: no data is read.
inline PlanBase small_base(const std::vector<std::string>& settings = {}) {
  PlanBase base = {small_recipe(settings), small_recipe(settings)};
  base.settled.open.clear();
  return base;
}

inline std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const Variant& variant : plan.variants) names.push_back(variant.name);
  return names;
}

/// A run of which `right` of `lines` lines are right, the first ones.
inline Result some_right(int64_t right, int64_t lines, double loss = 1.0) {
  Result result;
  result.metric = "exact";
  result.metric_name = "exact match";
  result.value = 100.0 * static_cast<double>(right) / static_cast<double>(lines);
  result.loss = loss;
  result.parameters = 1234;
  result.updates = 12;
  result.seconds = 2.5;
  for (int64_t i = 0; i < lines; ++i) result.statistics.push_back({i < right ? 1.0 : 0.0, 1.0});
  return result;
}

inline Result failed(const std::string& why) {
  Result result;
  result.error = why;
  return result;
}

}  // namespace heed::compare::test
