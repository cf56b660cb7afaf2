// y = x W^T + b.
#pragma once

#include <cstdint>

#include "heed/layer/parameters.h"
#include "heed/tensor/op/linear.h"
#include "heed/tensor/tape.h"

namespace heed {

/// "weight" [out, in], Xavier uniform times `gain`; "bias" [out], zero.
struct Linear {
  Parameter* weight = nullptr;
  Parameter* bias = nullptr;  // null: none

  Linear() = default;
  Linear(const Scope& scope, int64_t in, int64_t out, bool with_bias = true, float gain = 1.0f)
      : weight(&scope.make_weight("weight", {out, in}, Initialiser::xavier(gain))) {
    if (with_bias) bias = &scope.make("bias", {out}, Initialiser::constant(0.0f));
  }

  /// x [n, in] -> [n, out]
  Tensor operator()(Tensor x) const {
    Tape& tape = x.tape();
    return linear(x, tape.parameter(*weight), bias ? tape.parameter(*bias) : Tensor());
  }
};

}  // namespace heed
