#include "heed/model/search/score.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/model/search/best_tokens.h"
#include "heed/model/search/source_batch.h"
#include "heed/model/search/stepper.h"
#include "heed/tensor/tape.h"

namespace heed::search {

std::vector<Scored> score(const model::Model& model, Tape& tape, const data::Batch& batch, data::RecurrentCarry* left) {
  expect(!tape.recording() && !tape.training(), "score: the tape must neither record nor train");
  tape.reset();
  model::Loss loss = model.loss(tape, batch, {});
  if (left) *left = std::move(loss.carried);
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

std::vector<Scored> score_by_steps(const model::Generator& generator, Tape& tape, const Input& input,
                                   std::span<const std::vector<int32_t>> targets, int32_t start) {
  expect(!tape.recording() && !tape.training(), "score: the tape must neither record nor train");
  expect(std::ssize(targets) == input.size(), "score: {} targets for {} sources", targets.size(), input.size());
  std::vector<Scored> scored(targets.size());
  std::vector<int64_t> there;
  Options o{.start = start, .longest = 1};
  for (int64_t b = 0; b < input.size(); ++b) {
    const auto length = std::ssize(targets[static_cast<size_t>(b)]);
    if (generator.memory_rows(input.sources, b) == 0 || length == 0) continue;
    there.push_back(b);
    o.longest = std::max(o.longest, length);
  }
  if (there.empty()) return scored;
  const SourceBatch batch(input, there);
  const Input read = batch.view();
  Stepper stepper(generator, tape, read, o);
  std::vector<int64_t> open = std::move(there);  // of each row
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < read.size(); ++i) tokens.push_back(stepper.first_token(i));
  BestTokens best;
  while (!open.empty()) {
    const Tensor logits = stepper.next(tokens);
    best_tokens(logits, 0, best);
    const auto at = static_cast<size_t>(stepper.done() - 1);
    std::vector<int64_t> still, rows;
    tokens.clear();
    for (size_t r = 0; r < open.size(); ++r) {
      const std::vector<int32_t>& target = targets[static_cast<size_t>(open[r])];
      expect(target[at] >= 0 && target[at] < logits.cols(), "score: there is no token {}", target[at]);
      const double found = static_cast<double>(logits.row(static_cast<int64_t>(r))[target[at]]) - best.log_sum[r];
      Scored& s = scored[static_cast<size_t>(open[r])];
      s.log_probability += found;
      s.token_log_probabilities.push_back(static_cast<float>(found));
      if (at + 1 == target.size()) continue;
      still.push_back(open[r]);
      rows.push_back(static_cast<int64_t>(r));
      tokens.push_back(target[at]);
    }
    if (!still.empty() && still.size() != open.size()) stepper.select(rows);
    open = std::move(still);
  }
  return scored;
}

void each_loss(const model::Model& model, Tape& tape, const data::Dataset& examples, int64_t max_tokens,
               const std::function<void(const data::Batch&, const OutputLoss&)>& visit) {
  expect(!tape.recording() && !tape.training(), "each_loss: the tape must neither record nor train");
  data::RecurrentCarry carried;
  for (const data::Indices& batch : examples.batches({.max_tokens = max_tokens, .shuffle = false}, 0)) {
    stop_if_interrupted();
    tape.reset();
    data::Batch packed = examples.pack(batch);
    packed.carried = &carried;
    model::Loss loss = model.loss(tape, packed, {});
    visit(packed, loss);
    carried = std::move(loss.carried);
  }
}

}  // namespace heed::search
