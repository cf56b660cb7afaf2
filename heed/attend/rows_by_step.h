// The rows of a packed batch step by step, if a step depends on the previous one: step t takes row t of every sequence,
// and the results are put back in the order of the batch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "heed/attend/mechanism.h"

namespace heed::attend {

/// What a step takes from a sequence that has already ended.
enum class Ended {
  no_row,    // nothing: there are fewer rows
  last_row,  // its last row again, so that every step has a row per sequence; the result is dropped
};

/// The offsets of a step live as long as the tape's tensors.
class RowsByStep {
 public:
  RowsByStep(const Offsets& all, Ended ended, Tape& tape);

  /// The number of rows of the longest sequence.
  int64_t steps() const { return static_cast<int64_t>(steps_.size()); }
  /// The numbers of the rows in the batch, and where each sequence has its one or none among them.
  std::span<const int64_t> rows(int64_t step) const { return steps_[static_cast<size_t>(step)].rows; }
  const Offsets& offsets(int64_t step) const { return steps_[static_cast<size_t>(step)].offsets; }
  /// [all rows, ..] -> those of a step.
  Packed take(Tensor all, int64_t step) const;

  /// Of each step [its rows, ..] -> [all rows, ..].
  Tensor put_back(const std::vector<Tensor>& of_steps) const;
  /// Of each step [.., its rows] -> [.., all rows].
  Tensor put_back_columns(const std::vector<Tensor>& of_steps) const;
  /// Of each step [B, H, 1, keys] -> [B, H, steps, keys].
  Weights put_back_weights(const std::vector<Weights>& of_steps) const;

 private:
  struct Step {
    std::vector<int64_t> rows;
    Offsets offsets;
  };
  Offsets all_;
  Tape& tape_;
  std::vector<Step> steps_;
  std::vector<int64_t> places_;  // of each row of the batch among the rows of all steps, one after the other
};

/// Attends with one row of each sequence after another, where a step needs the one before, and puts the results
/// together: `step` gets the row's part of everything that belongs to the queries, and the state that the last one
/// left. `heads`: of masks and biases per head.
Attended attend_by_step(const AttendArguments& asked, int64_t heads,
                        const std::function<Attended(const AttendArguments&)>& step);

}  // namespace heed::attend
