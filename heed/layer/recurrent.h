// GRU and LSTM of several layers, in one direction or in both.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heed/layer/parameters.h"
#include "heed/tensor/op/recurrent.h"
#include "heed/tensor/tape.h"

namespace heed {

struct RecurrentOptions {
  enum class Kind { gru, lstm };  // Cho et al. 2014; Hochreiter and Schmidhuber 1997, with the forget gate of Gers 2000
  Kind kind = Kind::lstm;
  int64_t input = 0;   // width of the input
  int64_t hidden = 0;  // width of the state of one direction
  int64_t layers = 1;
  bool bidirectional = false;  // adds a second run, from the end of each sequence to its start
  float dropout = 0.0f;        // on the rows between two layers

  int64_t directions() const { return bidirectional ? 2 : 1; }
  int64_t width() const { return hidden * directions(); }  // of the output
};

/// One state [B, hidden] per layer and direction: layer l and direction d is at l * directions + d, where 0 is forward
/// and 1 backward. It lives in the tape, like the tensors in it.
using RecurrentStates = std::span<const RecurrentState>;

struct RecurrentOutput {
  Tensor rows;  // of the last layer: [tokens, hidden * directions], forward left of backward; step: [B, hidden]
  RecurrentStates states;               // after each sequence's last row (backward: after its first)
  std::span<const Tensor> layers = {};  // run(): the rows of every layer. It lives in the tape
};

/// For every layer ("0", "1", ...) and direction ("forward", "backward"), with 3 gates for GRU and 4 for LSTM:
///   "0.forward.input.weight" [gates * hidden, input]     each gate's block Xavier uniform
///   "0.forward.state.weight" [gates * hidden, hidden]    each gate's block orthogonal
///   "0.forward.input.bias"   [gates * hidden]            zero; 1 for the forget gate of an LSTM
///   "0.forward.state.bias"   [gates * hidden]            zero
/// Gates in the order of PyTorch: GRU reset, update, new; LSTM input, forget, new, output.
/// Threads: many may call it at once, each with a tape of its own.
class Recurrent {
 public:
  Recurrent() = default;
  Recurrent(const Scope& scope, const RecurrentOptions& options);

  const RecurrentOptions& options() const { return options_; }

  /// Whole sequences. x: rows [tokens, input]. `start`: empty (zeros) or one per layer and direction.
  RecurrentOutput run(const Packed& x, RecurrentStates start = {}) const;

  /// One step of every sequence, in one direction. x [B, input]; `states` as above. The same numbers as run().
  RecurrentOutput step(Tensor x, RecurrentStates states) const;

  /// Zeros for `batch` sequences: the initial states of step().
  RecurrentStates zero_states(Tape& tape, int64_t batch) const;

 private:
  struct Cell {  // one layer in one direction
    Parameter *input_weight, *state_weight, *input_bias, *state_bias;
    RecurrentWeights on(Tape& tape) const;
  };

  bool is_lstm() const { return options_.kind == RecurrentOptions::Kind::lstm; }
  Cell make_cell(const Scope& scope, int64_t input) const;
  void check_states(std::string_view what, RecurrentStates states, int64_t batch) const;

  RecurrentOptions options_;
  std::vector<Cell> cells_;  // in the order of RecurrentStates
};

}  // namespace heed
