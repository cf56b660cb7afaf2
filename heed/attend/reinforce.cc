#include "heed/attend/reinforce.h"

#include <cmath>

#include "heed/tensor/error.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/reduce.h"
#include "heed/tensor/tape.h"

namespace heed::attend {

Tensor Reinforce::loss(Tensor log_prob, std::span<const float> rewards, Tensor entropy) {
  expect(static_cast<bool>(log_prob),
         "reinforce: log_prob is missing; only hard_sampled attention on a training tape has one");
  const auto rows = static_cast<int64_t>(rewards.size());
  expect(log_prob.cols() == rows, "reinforce: {} rewards for {} rows", rows, log_prob.cols());
  double total = 0.0;
  for (const float reward : rewards) total += reward;
  const float mean_reward = rows > 0 ? static_cast<float>(total / static_cast<double>(rows)) : 0.0f;
  const bool counts = rows > 0 && std::isfinite(mean_reward);  // a failed update must not spoil all later ones
  if (!started_ && counts) baseline_ = mean_reward, started_ = true;

  Tape& tape = log_prob.tape();
  float* weights = tape.keep<float>(log_prob.size());
  const float share = rows > 0 ? 1.0f / static_cast<float>(rows) : 0.0f;
  for (int64_t i = 0; i < log_prob.size(); ++i)
    weights[i] = -(rewards[static_cast<size_t>(i % rows)] - baseline_) * share;
  Tensor loss = weighted_sum(log_prob, weights);
  if (entropy && options_.entropy_weight != 0.0f)
    loss = add(loss, scale(sum(entropy), -options_.entropy_weight * share));
  if (counts) baseline_ = options_.baseline_decay * baseline_ + (1.0f - options_.baseline_decay) * mean_reward;
  return loss;
}

}  // namespace heed::attend
