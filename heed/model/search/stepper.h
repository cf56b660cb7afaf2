// A model's steps for a batch of sources, as the searches see them: rows of hypotheses in, logits out.
#pragma once

#include <memory>

#include "heed/model/search/constraint_tracker.h"
#include "heed/model/search/search.h"

namespace heed::search {

class Stepper {
 public:
  /// Reads the sources: none of them may be empty. All must outlive this.
  Stepper(const model::Generator& generator, Tape& tape, const Input& input, const Options& options);

  const Input& input() const { return input_; }
  const Options& options() const { return options_; }
  int64_t done() const { return state_->step() - read_; }  // steps
  int32_t first_token(int64_t sentence) const {
    return generator_.first_token(input_.sources, sentence, options_.start);
  }
  bool may_go_on() const { return done() < options_.longest; }
  /// Of the rules of a sentence; null if nothing has rules.
  const ConstraintTracker* tracker(int64_t sentence) const {
    return trackers_.empty() ? nullptr : &trackers_[static_cast<size_t>(sentence)];
  }
  bool has_rules() const { return !trackers_.empty(); }

  /// The last token of each hypothesis -> logits [rows, vocabulary]. Tensors of earlier steps are dropped from the
  /// tape.
  Tensor next(std::span<const int32_t> tokens);
  /// For one row of the last step: its attention to each row of its memory; empty unless requested.
  std::vector<float> weights(int64_t row, int64_t sentence) const;
  void select(std::span<const int64_t> rows);

 private:
  const model::Generator& generator_;
  Tape& tape_;
  const Input& input_;
  const Options& options_;
  std::unique_ptr<decode::State> state_;
  int64_t read_ = 0;  // steps of the state that were spent on the sources
  decode::Alignment alignment_;
  bool wants_weights_;
  std::vector<ConstraintTracker> trackers_;  // [sentences], or none
};

}  // namespace heed::search
