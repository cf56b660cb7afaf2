// What GRU and LSTM share: the order of the steps, the products around the cells, the gradients of the weights.
// Sequences are ordered by decreasing length, so that those with a step t are the places [0, active[t]) and the state
// of all of them is one matrix [active, h]. Everything per token is in the order of the input rows.
#pragma once

#include <cstdint>

#include "heed/tensor/op/recurrent.h"
#include "heed/tensor/tape.h"

namespace heed {

struct RecurrentRun {
  RecurrentWeights w;
  RecurrentState start;  // or empty
  Tensor x;              // [tokens, in]
  Offsets offsets;
  int64_t gates = 0;  // RecurrentKind::gates: 3, or 4 with a state c
  int64_t hidden = 0;
  bool backwards = false;
  bool one_step = false;  // every sequence has one row: the result is the state

  const int64_t* order = nullptr;   // [sequences] the sequence at each place
  const int64_t* active = nullptr;  // [steps]
  int64_t steps = 0;

  // Kept from the forward. The backward writes over it.
  float* gate = nullptr;   // [tokens, gates * h]: W_i x + b_i, then the gates; in the backward d of what is inside them
  float* extra = nullptr;  // [tokens, h]: GRU W_hn h + b_hn, in the backward its gradient; LSTM c after the token
  const float* state_bias = nullptr;  // [gates * h]

  Tensor rows = {};          // [tokens, h]
  RecurrentState last = {};  // empty if one_step (but for c)

  int64_t sequences() const { return offsets.count; }
  int64_t tokens() const { return x.rows(); }
  int64_t row(int64_t place, int64_t t) const {
    const int64_t b = order[place];
    return backwards ? offsets.at[b + 1] - 1 - t : offsets.at[b] + t;
  }
  /// The row before `row(place, t)` in the order of the steps; t > 0.
  int64_t row_before(int64_t place, int64_t t) const { return row(place, t) + (backwards ? 1 : -1); }
};

/// One step of a run, for the places that are active in it.
struct RecurrentStep {
  const RecurrentRun& run;
  int64_t t;
  float* inner;                     // [active, gates * h]: W_h h without bias; in the backward d of it
  float* h;                         // [sequences, h] the state, by place; in the backward its gradient
  float* c;                         // the same for c, LSTM only
  const float* d_rows = nullptr;    // [tokens, h] what arrived at the results, or null
  const float* h_before = nullptr;  // [tokens, h] the state before each token
};

/// The places [begin, end) of a step.
using RecurrentCell = void (*)(const RecurrentStep& step, int64_t begin, int64_t end);

/// What a GRU and an LSTM differ in.
struct RecurrentKind {
  int64_t gates;
  RecurrentCell forward, backward;
  /// Whether the backward leaves a part of the gradient of the state before it in `h` that the product W_h^T d_inner
  /// must be added to (GRU), or nothing (LSTM).
  bool adds;
};

/// Checks the shapes, makes the results, runs all steps and leaves the backward on the tape. `name`: for messages.
RecurrentResult run_recurrent(const char* name, const RecurrentKind& kind, RecurrentRun run);

/// One step of every sequence: `run` has x, w and start.
RecurrentState step_recurrent(const char* name, const RecurrentKind& kind, RecurrentRun run);

}  // namespace heed
