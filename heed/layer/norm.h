// Normalisation of rows, with a learned gain.
#pragma once

#include <cstdint>

#include "heed/layer/parameters.h"
#include "heed/tensor/op/norm.h"
#include "heed/tensor/tape.h"

namespace heed {

/// (x - mean) / deviation * gain + bias, row by row.  "gain" [width], one; "bias" [width], zero.  Ba et al. 2016
struct LayerNorm {
  Parameter* gain = nullptr;
  Parameter* bias = nullptr;
  float epsilon = 1e-5f;

  LayerNorm() = default;
  LayerNorm(const Scope& scope, int64_t width, float small = 1e-5f)
      : gain(&scope.make("gain", {width}, Initialiser::constant(1.0f))),
        bias(&scope.make("bias", {width}, Initialiser::constant(0.0f))),
        epsilon(small) {}

  /// x [n, width] -> [n, width]
  Tensor operator()(Tensor x) const {
    Tape& tape = x.tape();
    return layer_norm(x, tape.parameter(*gain), tape.parameter(*bias), epsilon);
  }
};

/// x / root mean square * gain, row by row.  "gain" [width], one.  Zhang and Sennrich 2019
struct RmsNorm {
  Parameter* gain = nullptr;
  float epsilon = 1e-5f;

  RmsNorm() = default;
  RmsNorm(const Scope& scope, int64_t width, float small = 1e-5f)
      : gain(&scope.make("gain", {width}, Initialiser::constant(1.0f))), epsilon(small) {}

  /// x [n, width] -> [n, width]
  Tensor operator()(Tensor x) const { return rms_norm(x, x.tape().parameter(*gain), epsilon); }
};

struct NormOptions {
  bool root_mean_square = false;
  float epsilon = 1e-5f;
};

/// One or the other, as options say.
struct RowNorm {
  LayerNorm layer;
  RmsNorm root;

  RowNorm() = default;
  RowNorm(const Scope& scope, int64_t width, const NormOptions& o) {
    if (o.root_mean_square)
      root = RmsNorm(scope, width, o.epsilon);
    else
      layer = LayerNorm(scope, width, o.epsilon);
  }

  explicit operator bool() const { return layer.gain || root.gain; }
  /// x [n, width] -> [n, width]
  Tensor operator()(Tensor x) const { return root.gain ? root(x) : layer(x); }
};

}  // namespace heed
