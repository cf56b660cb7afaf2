#include "heed/model/model.h"

#include <utility>

#include "heed/tensor/parameter.h"

namespace heed::model {

void add_change(BaselineChange& sum, const BaselineChange& next) {
  if (!next.baseline) return;
  sum.baseline = next.baseline;
  sum.decay = next.decay;
  sum.rewards += next.rewards;
}

void apply_change(const BaselineChange& change) {
  if (!change.baseline) return;
  const ParameterStorage& now = std::as_const(change.baseline->value);
  attend::RewardBaseline baseline{.value = now[0], .started = now[1] != 0.0f};
  baseline.move(change.rewards, change.decay);
  change.baseline->value = std::vector<float>{baseline.value, baseline.started ? 1.0f : 0.0f};
}

}  // namespace heed::model
