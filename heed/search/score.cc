#include "heed/search/score.h"

#include <memory>

#include "heed/tensor/error.h"
#include "heed/tensor/interrupt.h"
#include "heed/tensor/tape.h"

namespace heed::search {

std::vector<Scored> score(const model::Model& model, Tape& tape, const data::PackedBatch& batch) {
  expect(!tape.recording() && !tape.training(), "score: the tape must neither record nor train");
  tape.reset();
  const OutputLoss loss = model.loss(tape, batch, {});
  const std::span<const int64_t> offsets = batch.prediction_offsets();
  std::vector<Scored> scored;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    Scored& s = scored.emplace_back();
    for (int64_t r = offsets[b]; r < offsets[b + 1]; ++r) {
      s.token_log_probabilities.push_back(-loss.row_nll[static_cast<size_t>(r)]);
      s.log_probability -= loss.row_nll[static_cast<size_t>(r)];
    }
  }
  return scored;
}

void each_loss(const model::Model& model, Tape& tape, const data::Dataset& examples, int64_t max_tokens,
               const std::function<void(const data::PackedBatch&, const OutputLoss&)>& visit) {
  expect(!tape.recording() && !tape.training(), "each_loss: the tape must neither record nor train");
  data::Carried carried;
  for (const data::Batch& batch : examples.batches({.max_tokens = max_tokens, .shuffle = false}, 0)) {
    stop_if_interrupted();
    tape.reset();
    const std::unique_ptr<data::PackedBatch> packed = examples.pack(batch);
    packed->carried = &carried;
    visit(*packed, model.loss(tape, *packed, {}));
  }
}

}  // namespace heed::search
