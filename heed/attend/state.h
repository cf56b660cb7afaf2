// The state that one call of a mechanism passes to the next. Callers pass it on without looking inside; a search also
// takes it off the tape after every step, and makes the states of its next hypotheses from the last ones.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "heed/tensor/off_tape_matrix.h"
#include "heed/tensor/tape.h"

namespace heed::attend {

/// Threads: a value; as for its tape.
class State {
 public:
  State() = default;
  /// Nothing has been seen yet, and the first query is at position `step`.
  explicit State(int64_t step) : step_(step) {}

  /// Position of the first query of the next call.
  int64_t step() const { return step_; }
  void set_step(int64_t step) { step_ = step; }

  /// Guided attention, step by step: the final number of rows of each target, [B]. They must live as long as the state.
  void set_target_lengths(const int32_t* lengths) { target_lengths_ = lengths; }
  const int32_t* target_lengths() const { return target_lengths_; }

  /// Copies everything off the tape, so that the tape may be reset. Gradients no longer flow through it.
  void leave_tape();

  /// The origin of a sequence of a new state: sequence `sequence` of `state`. A null state: this sequence will not be
  /// used, but the rows of its memory keep their place.
  struct Origin {
    const State* state = nullptr;
    int64_t sequence = 0;
  };
  /// A state off the tape, with a sequence for each origin. `memory`: the rows of each sequence of the old states; the
  /// new ones follow in the same order, without those left out. All states must be off their tapes. What a mechanism
  /// computes once per sequence is dropped if the sequences change, and computed again.
  static State select(std::span<const Origin> origins, const Offsets& memory);

  // ------------------------------------------------------------------------------------------------- for mechanisms
  // Three fields for what they remember, by shape, so that select() knows what to do with it. Initially empty.

  /// A column for each row of the memory: [any, memory rows].
  Tensor columns(Tape& tape) const { return columns_.on(tape); }
  void set_columns(Tensor columns) { columns_ = Carried(columns); }

  /// Numbers of each sequence: [B, any].
  std::span<const int32_t> numbers() const { return numbers_ ? *numbers_ : std::span<const int32_t>(); }
  void set_numbers(std::vector<int32_t> numbers);

  /// What is computed once for all steps: a context [B, width], and its weights [B * H, longest memory] if requested.
  Tensor context(Tape& tape) const { return context_.on(tape); }
  Tensor weights(Tape& tape) const { return weights_.on(tape); }
  void set_context(Tensor context, Tensor weights);

 private:
  /// A tensor on a tape, or a copy off it.
  class Carried {
   public:
    Carried() = default;
    explicit Carried(Tensor t) : tensor_(t) {}
    explicit Carried(OffTapeMatrix m) : copy_(std::make_shared<const OffTapeMatrix>(std::move(m))) {}

    Tensor on(Tape& tape) const { return copy_ ? copy_->on(tape) : tensor_; }
    void leave_tape();
    const OffTapeMatrix* copy() const { return copy_.get(); }

   private:
    Tensor tensor_;
    std::shared_ptr<const OffTapeMatrix> copy_;
  };

  static Carried select_columns(std::span<const Origin> origins, const Offsets& memory);

  int64_t step_ = 0;
  const int32_t* target_lengths_ = nullptr;
  Carried columns_, context_, weights_;
  std::shared_ptr<const std::vector<int32_t>> numbers_;
};

}  // namespace heed::attend
