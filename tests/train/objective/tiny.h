// Models so small that all their outputs can be listed, with the vocabularies and pairs that an objective needs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/task/vocabularies.h"
#include "heed/train/objective/all.h"
#include "heed/train/objective/hypotheses.h"
#include "tests/model/small.h"

namespace heed::objective::test {

using model::test::kQuiet;
using model::test::Made;

/// Words "a" and "b" on both sides: five tokens with the special ones.
inline task::Vocabularies two_words() {
  const std::vector<std::string_view> lines = {"a b"};
  const auto tokeniser = text::Tokeniser::train(lines, {.kind = "words"});
  return {tokeniser, tokeniser};
}

struct Tiny {
  task::Vocabularies vocabularies = two_words();
  data::Examples examples;
  Made made;

  explicit Tiny(const std::string& kind, const std::vector<std::pair<std::string, std::string>>& pairs)
      : made(options(kind, *vocabularies.target)) {
    for (const auto& [source, target] : pairs) {
      examples.source.add(vocabularies.source->encode(source));
      examples.target.add(vocabularies.target->encode(target));
      examples.line.push_back(examples.size());
    }
  }
  static model::Options options(const std::string& kind, const text::Tokeniser& tokeniser) {
    model::Options o = model::test::small(kind);
    o.source_vocabulary = o.target_vocabulary = tokeniser.size();
    o.activation = "gelu";
    o.max_length = 40;
    return o;
  }

  ObjectiveInputs setting(const Options& o, RewardFunction reward = {}) const {
    return {.model = made.model,
            .vocabularies = vocabularies,
            .examples = examples,
            .options = o,
            .updates = 100,
            .longest = 2,
            .reward = std::move(reward)};
  }
  data::Batch batch() const {
    std::vector<int64_t> all;
    for (int64_t i = 0; i < examples.size(); ++i) all.push_back(i);
    return examples.pack(all);
  }
};

/// Different for every output, and not symmetric: 0 for nothing, and each word has its worth at its place.
inline std::vector<double> odd_reward(std::span<const RewardCase> cases) {
  std::vector<double> rewards;
  for (const RewardCase& each : cases) {
    double sum = each.source.size() > 1 ? 0.3 : -0.2, place = 1.0;
    for (const char c : each.output) {
      sum += place * (c == 'a' ? 1.0 : c == 'b' ? -0.4 : 0.05);
      place *= 0.7;
    }
    rewards.push_back(sum);
  }
  return rewards;
}

}  // namespace heed::objective::test
