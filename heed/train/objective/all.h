// The list of the objectives. train.objective of a recipe and its choices follow from it: a new objective is one file
// and one word here.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/list.h"
#include "heed/model/options.h"
#include "heed/task/vocabularies.h"
#include "heed/train/objective/objective.h"
#include "heed/train/objective/options.h"
#include "heed/train/objective/reward.h"

namespace heed::objective {

/// What an objective is made of. All but the options and the function must outlive it.
struct ObjectiveInputs {
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
  bool needs_writer;    // it reads what the model writes token by token, for sources or from running text
  bool needs_pairs;     // it writes outputs for sources, token by token
  bool needs_trained;   // it learns from the outputs of a model that is already good
  /// Why it cannot be used with these options; empty if it can. Null: it always can.
  std::string (*refuses)(const Options&, const model::Options&);
  std::unique_ptr<Objective> (*make)(const ObjectiveInputs&);
};

#define HEED_OBJECTIVES(X) X(likelihood) X(scheduled_sampling) X(reinforce) X(minimum_risk)

#define HEED_DECLARE(name) extern const Entry name##_entry;
HEED_OBJECTIVES(HEED_DECLARE)
#undef HEED_DECLARE

const List<Entry>& all();
/// Throws, naming the nearest.
inline const Entry& find(std::string_view name) { return all().find(name); }

/// Why an objective cannot be used, or an option has no effect, one sentence each.
std::vector<std::string> problems(const Options& options, const model::Options& model);

}  // namespace heed::objective
