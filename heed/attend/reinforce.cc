#include "heed/attend/reinforce.h"

#include <cmath>
#include <iterator>

#include "heed/base/error.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/reduce.h"
#include "heed/tensor/tape.h"

namespace heed::attend {

namespace {

float mean_of(const RewardSum& rewards) {
  return rewards.count > 0 ? static_cast<float>(rewards.total / static_cast<double>(rewards.count)) : 0.0f;
}

bool counts(const RewardSum& rewards) { return rewards.count > 0 && std::isfinite(mean_of(rewards)); }

}  // namespace

RewardSum& RewardSum::operator+=(const RewardSum& other) {
  total += other.total;
  count += other.count;
  return *this;
}

RewardSum sum_of(std::span<const float> rewards) {
  RewardSum sum{.count = std::ssize(rewards)};
  for (const float reward : rewards) sum.total += reward;
  return sum;
}

float RewardBaseline::for_rewards(const RewardSum& rewards) const {
  return !started && counts(rewards) ? mean_of(rewards) : value;
}

void RewardBaseline::move(const RewardSum& rewards, float decay) {
  if (!counts(rewards)) return;
  value = decay * for_rewards(rewards) + (1.0f - decay) * mean_of(rewards);
  started = true;
}

Tensor Reinforce::loss(Tensor log_prob, std::span<const float> rewards, Tensor entropy) {
  expect(static_cast<bool>(log_prob),
         "reinforce: log_prob is missing; only hard_sampled attention on a training tape has one");
  const auto rows = static_cast<int64_t>(rewards.size());
  expect(log_prob.cols() == rows, "reinforce: {} rewards for {} rows", rows, log_prob.cols());
  const RewardSum sum_of_rewards = sum_of(rewards);
  const float baseline = baseline_.for_rewards(sum_of_rewards);

  Tape& tape = log_prob.tape();
  float* weights = tape.keep<float>(log_prob.size());
  const float share = rows > 0 ? 1.0f / static_cast<float>(rows) : 0.0f;
  for (int64_t i = 0; i < log_prob.size(); ++i)
    weights[i] = -(rewards[static_cast<size_t>(i % rows)] - baseline) * share;
  Tensor loss = weighted_sum(log_prob, weights);
  if (entropy && options_.entropy_weight != 0.0f)
    loss = add(loss, scale(sum(entropy), -options_.entropy_weight * share));
  baseline_.move(sum_of_rewards, options_.baseline_decay);
  return loss;
}

}  // namespace heed::attend
