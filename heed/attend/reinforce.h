// REINFORCE for attention that draws its keys (normalise = "hard_sampled").   Williams 1992; Xu et al. 2015.
#pragma once

#include <cstdint>
#include <span>

#include "heed/tensor/tensor.h"

namespace heed::attend {

struct ReinforceOptions {
  float baseline_decay = 0.9f;  // b <- decay * b + (1 - decay) * mean reward
  float entropy_weight = 0.0f;  // of the bonus for exploring
};

/// The rewards of a batch. Those of several batches add up.
struct RewardSum {
  double total = 0.0;
  int64_t count = 0;

  RewardSum& operator+=(const RewardSum& other);
};
RewardSum sum_of(std::span<const float> rewards);

/// What rewards are compared with: their moving average. The first ones initialise it.
struct RewardBaseline {
  float value = 0.0f;
  bool started = false;

  /// What choices with these rewards are compared with: before the first ones, their own mean.
  float for_rewards(const RewardSum& rewards) const;
  /// value <- decay * value + (1 - decay) * mean. Rewards that are not finite do not count: a failed update must not
  /// spoil all later ones.
  void move(const RewardSum& rewards, float decay);
};

/// Makes a loss from the drawn keys and their rewards:
///
///   loss = - mean over rows of ((R - b) sum log p + entropy_weight sum entropy)
///
/// where the sums run over all heads and samples (entropy: heads) of a row. Together they made its context, so the
/// probability of the draw is the product of theirs, and the expected gradient of the loss is that of - E[R].
/// Threads: one at a time.
class Reinforce {
 public:
  explicit Reinforce(ReinforceOptions options = {}) : options_(options) {}

  /// `log_prob`: Attended::log_prob, [samples * H, rows], or those of several layers, stacked. `rewards` [rows]: the
  /// reward for each query's choices, for example the log-probability of the correct token. `entropy`:
  /// Attended::entropy in the same way, or empty. The baseline is updated after the loss is made; the first rewards
  /// initialise it.
  Tensor loss(Tensor log_prob, std::span<const float> rewards, Tensor entropy = {});

  float baseline() const { return baseline_.value; }
  bool started() const { return baseline_.started; }
  /// Continues from the baseline of another one.
  void restore(float baseline, bool started) { baseline_ = {baseline, started}; }

 private:
  ReinforceOptions options_;
  RewardBaseline baseline_;
};

}  // namespace heed::attend
