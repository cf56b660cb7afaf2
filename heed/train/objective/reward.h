// What an output is worth.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace heed::objective {

/// An output of the model, and what it is judged by.
struct RewardCase {
  std::string source, output;
  std::vector<std::string> references;  // the right outputs of this source in the training data
};

/// [cases] -> [cases]: finite numbers, higher is better. Called by the training thread, with the outputs of a batch.
using RewardFunction = std::function<std::vector<double>(std::span<const RewardCase>)>;

/// The values of train.reward: metrics by name, and "own".
std::vector<std::string> reward_names();

/// By the name of a metric: its score of each output alone, from 0 to 1; error rates are 1 - rate, and may be negative.
RewardFunction metric_reward(const std::string& name);

}  // namespace heed::objective
