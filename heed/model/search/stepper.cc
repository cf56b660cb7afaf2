#include "heed/model/search/stepper.h"

#include "heed/model/search/alignment_row.h"

namespace heed::search {

Stepper::Stepper(const model::Generator& generator, Tape& tape, const Input& input, const Options& options)
    : generator_(generator),
      tape_(tape),
      input_(input),
      options_(options),
      wants_weights_(options.alignment || options.beta != 0.0) {
  tape.reset();
  state_ = generator.start(tape, input.sources, options.longest);
  read_ = state_->step();
  if (input.rules.empty() && options.no_repeat_ngram == 0) return;
  for (int64_t b = 0; b < input.size(); ++b) trackers_.emplace_back(input.rules_of(b), options);
}

Tensor Stepper::next(std::span<const int32_t> tokens) {
  tape_.reset();  // the state is outside it
  return generator_.step(tokens, *state_, tape_, wants_weights_ ? &alignment_ : nullptr);
}

std::vector<float> Stepper::weights(int64_t row, int64_t sentence) const {
  if (!wants_weights_) return {};
  return weights_of(alignment_, options_.heads, {row, 0, generator_.memory_rows(input_.sources, sentence)});
}

void Stepper::select(std::span<const int64_t> rows) { state_->select(rows); }

}  // namespace heed::search
