// An LSTM that looks back: instead of its last state, a step goes on from a mean of all earlier ones, by attention.
// Cheng, Dong and Lapata 2016: Long Short-Term Memory-Networks for Machine Reading
//
//   a_ti = v^T tanh(W_h h_i + [W_x W_~] [x_t; h~_(t-1)] + b)   i < t,      s_t = softmax(a_t)
//   h~_t = sum_i s_ti h_i,   c~_t = sum_i s_ti c_i             0 at the first step
//   h_t, c_t = LSTM(x_t, h~_t, c~_t)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/attend/attention.h"
#include "heed/layer/recurrent.h"

namespace heed::encode {

/// One layer in one direction. Parameters: "cell.0.forward.*", those of an LSTM (layer/recurrent.h), and "attention.*".
/// Threads: many may use it at once, each with its own tape.
class LstmnReader {
 public:
  LstmnReader(const Scope& scope, int64_t input, int64_t hidden, bool backwards);

  /// x [tokens, input] -> states [tokens, hidden], and the last of each sequence. The states so far are a memory that
  /// grows, and each step is one call of the loop: step by step, in training too.
  RecurrentResult operator()(const Packed& x) const;

  /// What steps() of a search hand on, [rows, ..] each.
  struct Past {
    Tensor states;  // [rows, t * 2 * hidden] h and c of all steps so far; empty at first
    Tensor mean_h;  // [rows, hidden] h~ of the last step; empty at first
  };
  /// One step of every row, x [rows, input] -> h [rows, hidden]. The same numbers as whole sequences.
  Tensor step(Tensor x, Past& past) const;

 private:
  std::vector<int64_t> order(const Offsets& offsets) const;
  RecurrentResult run(const Packed& x, attend::Weights* weights) const;
  void take(attend::Weights& all, const attend::Weights& step, const Offsets& offsets, int64_t t) const;

  std::string name_;  // where it is in the model
  int64_t hidden_;
  bool backwards_;
  Recurrent cell_;
  attend::Attention attention_;
};

}  // namespace heed::encode
