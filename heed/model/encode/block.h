// The parts that Transformer encoders and decoders are made of: a sub-layer with its residual and norm.
#pragma once

#include <memory>

#include "heed/attend/mechanism.h"
#include "heed/layer/feed_forward.h"
#include "heed/layer/norm.h"
#include "heed/model/encode/encoder.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/dropout.h"

namespace heed::encode {

/// x + dropout(part(norm(x))) with pre_norm, norm(x + dropout(part(x))) without.
struct Residual {
  RowNorm norm;
  bool pre_norm = false;
  float dropout_rate = 0.0f;

  Residual() = default;
  Residual(const Scope& scope, const StackOptions& o)
      : norm(scope / "norm", o.width, o.norm), pre_norm(o.pre_norm), dropout_rate(o.dropout) {}

  template <class Part>
  Tensor operator()(Tensor x, const Part& part) const {
    if (pre_norm) return add(x, dropout(part(norm(x)), dropout_rate));
    return norm(add(x, dropout(part(x), dropout_rate)));
  }
};

FeedForward make_feed_forward(const Scope& scope, const StackOptions& options);

/// The self-attention of one block, as attention_options.h has it.
struct BlockAttention {
  const char* place;
  int64_t layer;
  attend::Options options;
};

/// Self-attention, then feed-forward: a block of an encoder, or of a decoder without a source.
class SelfAttentionBlock {
 public:
  SelfAttentionBlock(const Scope& scope, const StackOptions& options, const BlockAttention& self_attention);

  const attend::Mechanism& self() const { return *self_; }

  /// x [rows, width] -> [rows, width]. `attend_to_self(rows)` gives the contexts of the rows.
  template <class AttendToSelf>
  Tensor operator()(Tensor x, const AttendToSelf& attend_to_self) const {
    return around_feed_forward_(around_self_(x, attend_to_self), feed_forward_);
  }

 private:
  std::unique_ptr<attend::Mechanism> self_;
  FeedForward feed_forward_;
  Residual around_self_, around_feed_forward_;
};

}  // namespace heed::encode
