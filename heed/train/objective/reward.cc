#include "heed/train/objective/reward.h"

#include <memory>

#include "heed/text/metric/all.h"

namespace heed::objective {

std::vector<std::string> reward_names() {
  return {"exact", "ser", "wer", "per", "cer", "bleu", "chrf", "chrf++", "ter", "rouge-1", "rouge-2", "rouge-l", "own"};
}

RewardFunction metric_reward(const std::string& name) {
  const std::shared_ptr<const metric::TextMetric> metric = metric::make_metric(name);
  return [metric](std::span<const RewardCase> cases) {
    std::vector<double> rewards;
    for (const RewardCase& each : cases) {
      const metric::Score score = metric->segment_score(each.output, each.references);
      rewards.push_back(score.higher_is_better ? score.value / 100.0 : 1.0 - score.value / 100.0);
    }
    return rewards;
  };
}

}  // namespace heed::objective
