// GRU and LSTM over packed batches: one product for the inputs of all steps, then one small product and one fused cell
// per step. Sequences of unequal length leave the batch when they end; nothing is computed for padding.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// weights: input [gates * h, in], state [gates * h, h], input_bias and state_bias [1, gates * h] or empty.
/// Gates in the order of PyTorch: GRU reset, update, new; LSTM input, forget, new, output.
struct RecurrentWeights {
  Tensor input, state, input_bias, state_bias;
};
struct RecurrentState {
  Tensor h;  // [B, h]
  Tensor c;  // [B, h], LSTM only
};
struct RecurrentResult {
  Tensor rows;           // [tokens, h], packed like the input
  RecurrentState state;  // after the last step of each sequence (backwards: after its first row)
};

/// A whole packed batch in one direction. `start` may be empty: zeros.
RecurrentResult gru(const Packed& x, const RecurrentWeights& w, const RecurrentState& start = {},
                    bool backwards = false);
RecurrentResult lstm(const Packed& x, const RecurrentWeights& w, const RecurrentState& start = {},
                     bool backwards = false);

/// One step: x [B, in] -> the next state. The same numbers as the whole batch.
RecurrentState gru_step(Tensor x, const RecurrentWeights& w, const RecurrentState& state);
RecurrentState lstm_step(Tensor x, const RecurrentWeights& w, const RecurrentState& state);

}  // namespace heed
