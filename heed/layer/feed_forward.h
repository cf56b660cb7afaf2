// Two linear layers with an activation between, row by row.
//
//   plain   down(dropout(f(up(x))))
//   gated   down(dropout(f(gate(x)) * up(x)))          Shazeer 2020
#pragma once

#include <cstdint>

#include "heed/layer/linear.h"
#include "heed/tensor/op/activation.h"

namespace heed {

struct FeedForwardOptions {
  int64_t width = 0;                         // of input and output
  int64_t hidden = 0;                        // between them; 0: 4 * width
  Activation activation = Activation::relu;  // f
  bool gated = false;
  bool bias = true;
  float dropout = 0.0f;  // of the hidden values
};

/// Linear layers "up" and, if gated, "gate": width -> hidden; "down": hidden -> width.
struct FeedForward {
  Linear up, gate, down;
  FeedForwardOptions options;

  FeedForward() = default;
  FeedForward(const Scope& scope, const FeedForwardOptions& options);

  /// x [n, width] -> [n, width]
  Tensor operator()(Tensor x) const;
};

}  // namespace heed
