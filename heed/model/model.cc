#include "heed/model/model.h"

#include <utility>

#include "heed/base/error.h"
#include "heed/model/generator.h"
#include "heed/tensor/parameter.h"

namespace heed::model {

void add_change(BaselineChange& sum, const BaselineChange& next) {
  if (!next.baseline) return;
  sum.baseline = next.baseline;
  sum.decay = next.decay;
  sum.rewards += next.rewards;
}

void Model::teacher_forced_logits(Tape& tape, const data::Batch& batch,
                                  const std::function<void(int64_t first, Tensor logits)>& visit) const {
  expect(generator() != nullptr, ErrorKind::bug, "teacher_forced_logits: the model does not write step by step");
  generator()->each_logits(tape, batch.sources, {batch.targets.in, batch.targets.offsets}, visit);
}

void apply_change(const BaselineChange& change) {
  if (!change.baseline) return;
  const ParameterStorage& now = std::as_const(change.baseline->value);
  attend::RewardBaseline baseline{.value = now[0], .started = now[1] != 0.0f};
  baseline.move(change.rewards, change.decay);
  change.baseline->value = std::vector<float>{baseline.value, baseline.started ? 1.0f : 0.0f};
}

}  // namespace heed::model
