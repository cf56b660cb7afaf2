#include "heed/search/score.h"

#include "heed/tensor/error.h"

namespace heed::search {

std::vector<Scored> score(const model::Seq2Seq& model, Tape& tape, const model::Seq2SeqBatch& batch) {
  expect(!tape.recording() && !tape.training(), "score: the tape must neither record nor train");
  tape.reset();
  const OutputLoss loss = model.loss(tape, batch, {});
  std::vector<Scored> scored;
  for (size_t b = 0; b + 1 < batch.target_offsets.size(); ++b) {
    Scored& s = scored.emplace_back();
    for (int64_t r = batch.target_offsets[b]; r < batch.target_offsets[b + 1]; ++r) {
      s.token_log_probabilities.push_back(-loss.row_nll[static_cast<size_t>(r)]);
      s.log_probability -= loss.row_nll[static_cast<size_t>(r)];
    }
  }
  return scored;
}

}  // namespace heed::search
