// The list of the objectives. To add one: a file with an Entry, and a line here.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/model/options.h"
#include "heed/objective/objective.h"
#include "heed/objective/options.h"
#include "heed/objective/reward.h"
#include "heed/task/vocabularies.h"

namespace heed::objective {

/// What an objective is made of. All but the options and the function must outlive it.
struct Setting {
  const model::Model& model;
  const task::Vocabularies& vocabularies;
  const data::Dataset& examples;  // to train on
  Options options;
  float label_smoothing = 0.0f;
  int64_t batch_tokens = 4096;
  int64_t updates = 0;         // of the whole training run; 0: not known
  int64_t longest = 200;       // output, in tokens
  RewardFunction reward = {};  // train.reward = "own"
};

struct Entry {
  const char* name;     // the word in recipes: train.objective
  const char* meaning;  // a few words
  const char* keys;     // of [train] that it reads, separated by spaces
  bool needs_pairs;     // it writes outputs, token by token
  bool needs_trained;   // it learns from the outputs of a model that is already good
  /// Why it cannot be used with these options; empty if it can. Null: it always can.
  std::string (*refuses)(const Options&, const model::Options&);
  std::unique_ptr<Objective> (*make)(const Setting&);
};

extern const Entry likelihood_entry, scheduled_sampling_entry, reinforce_entry, minimum_risk_entry;

inline std::span<const Entry* const> all() {
  static constexpr const Entry* kAll[] = {&likelihood_entry, &scheduled_sampling_entry, &reinforce_entry,
                                          &minimum_risk_entry};
  return kAll;
}

std::vector<std::string> names();
/// Throws Error for an unknown name.
const Entry& find(std::string_view name);

/// Why an objective cannot be used, or an option has no effect, one sentence each.
std::vector<std::string> problems(const Options& options, const model::Options& model);

}  // namespace heed::objective
