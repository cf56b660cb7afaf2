// The parts that Transformer encoders and decoders are made of: a sub-layer with its residual and norm.
#pragma once

#include "heed/encode/encoder.h"
#include "heed/layer/feed_forward.h"
#include "heed/layer/norm.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/dropout.h"

namespace heed::encode {

/// x + dropout(part(norm(x))) with pre_norm, norm(x + dropout(part(x))) without.
struct Residual {
  LayerNorm norm;
  bool pre_norm = false;
  float dropout_rate = 0.0f;

  Residual() = default;
  Residual(const Scope& scope, const StackOptions& o)
      : norm(scope / "norm", o.width), pre_norm(o.pre_norm), dropout_rate(o.dropout) {}

  template <class Part>
  Tensor operator()(Tensor x, const Part& part) const {
    if (pre_norm) return add(x, dropout(part(norm(x)), dropout_rate));
    return norm(add(x, dropout(part(x), dropout_rate)));
  }
};

FeedForward make_feed_forward(const Scope& scope, const StackOptions& options);

}  // namespace heed::encode
