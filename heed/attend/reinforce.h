// REINFORCE for attention that draws its keys (normalise = "hard_sampled").   Williams 1992; Xu et al. 2015.
#pragma once

#include <span>

#include "heed/tensor/tensor.h"

namespace heed::attend {

struct ReinforceOptions {
  float baseline_decay = 0.9f;  // b <- decay * b + (1 - decay) * mean reward
  float entropy_weight = 0.0f;  // of the bonus that keeps the choice open
};

/// Makes a loss of what was drawn and what it was worth:
///
///   loss = - mean over rows of ((R - b) sum log p + entropy_weight sum entropy)
///
/// where the sums run over all heads and samples (entropy: heads) of a row. They made its context together, so the
/// probability of what was drawn is the product of theirs, and the expected gradient of the loss that of - E[R].
/// Threads: one at a time.
class Reinforce {
 public:
  explicit Reinforce(ReinforceOptions options = {}) : options_(options) {}

  /// `log_prob`: Attended::log_prob, [samples * H, rows], or those of several layers below each other. `rewards`
  /// [rows]: what came of each query's choices, for example the log-probability of the right token. `entropy`:
  /// Attended::entropy likewise, or empty. The baseline moves after the loss is made; the first rewards set it.
  Tensor loss(Tensor log_prob, std::span<const float> rewards, Tensor entropy = {});

  float baseline() const { return baseline_; }
  bool started() const { return started_; }
  /// Goes on from where another one was.
  void restore(float baseline, bool started) { baseline_ = baseline, started_ = started; }

 private:
  ReinforceOptions options_;
  float baseline_ = 0.0f;
  bool started_ = false;
};

}  // namespace heed::attend
