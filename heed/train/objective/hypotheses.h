// Outputs of the model for the sources of a batch, what they are worth, and a likelihood of them with a weight for
// each: what the objectives with a reward have in common.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "heed/data/batch.h"
#include "heed/model/search/search.h"
#include "heed/model/search/tape_pool.h"
#include "heed/train/objective/all.h"

namespace heed::objective {

/// An output of source number `source` of the batch.
struct Hypothesis {
  int64_t source = 0;
  std::vector<int32_t> tokens = {};  // without START and END
  bool finished = true;              // END came
  int64_t count = 1;                 // how often it was found
  double reward = 0;
  double weight = 0;  // of its negative log-likelihood in the loss
};

/// Hypotheses with their weights, and the mean reward that they stand for.
struct RewardedHypotheses {
  const std::vector<Hypothesis>& hypotheses;
  double reward;
  /// Tokens that had no chance when these were drawn: the others share all the probability in log p.
  std::span<const int32_t> never = {};
};

class HypothesisLearner {
 public:
  explicit HypothesisLearner(const ObjectiveInputs& setting);

  /// Those that a search finds, each different one once, by source.
  std::vector<Hypothesis> search(const data::Batch& batch, search::Options options);
  /// The right outputs.
  static std::vector<Hypothesis> references(const data::Batch& batch);
  /// What search() writes in no output: text::Tokeniser::never_written().
  std::span<const int32_t> never() const { return never_; }
  /// Drawn ones, as ObjectiveInputs::options say.
  search::Options samples(uint64_t seed) const;

  /// Fills in the rewards.
  void judge(const data::Batch& batch, std::vector<Hypothesis>& hypotheses);

  /// log p of each.
  std::vector<double> log_probabilities(const data::Batch& batch, const std::vector<Hypothesis>& hypotheses);

  /// Adds the gradients of (1 - s) sum of weight * (- log p), some hypotheses at a time, and of s times the mean
  /// over examples of - log p of the right outputs; s is likelihood_share. The loss of the report has the mean reward
  /// in place of the first.
  PartReport learn(Tape& tape, const data::Batch& batch, const UpdatePart& part, const RewardedHypotheses& judged);

 private:
  /// Calls use(some, first) for the hypotheses from `first` on, some at a time: a batch with them as targets.
  template <class Use>
  void each_batch(const data::Batch& batch, const std::vector<Hypothesis>& hypotheses, const Use& use) const;

  ObjectiveInputs setting_;
  std::vector<int32_t> never_;
  RewardFunction reward_;
  std::map<std::string, std::vector<std::string>> references_;  // of the training data, by all that a source is made of
  search::TapePool tapes_;
  Tape plain_{TapeOptions{.recording = false, .training = false}};
};

/// Why neither objective with a reward can be used.
std::string refuse_reward(const Options& options, const model::Options& model);

}  // namespace heed::objective
