#include "heed/attend/all.h"
#include "heed/encode/all.h"
#include "heed/encode/attention_options.h"
#include "heed/encode/block.h"
#include "heed/encode/choices.h"
#include "heed/tensor/error.h"

namespace heed::encode {

FeedForward make_feed_forward(const Scope& scope, const StackOptions& o) {
  const FeedForwardForm form = value_of(kActivations, o.activation, "transformer: activation");
  FeedForwardOptions f{.width = o.width, .hidden = o.hidden, .dropout = o.dropout};
  f.activation = form.activation;
  f.gated = form.gated;
  return {scope, f};
}

namespace {

class Block {
 public:
  Block(const Scope& scope, const StackOptions& o)
      : self_(attend::make(scope / "self", encoder_self_attention(o))),
        feed_forward_(make_feed_forward(scope / "feed_forward", o)),
        around_self_(scope / "self", o),
        around_feed_forward_(scope / "feed_forward", o) {}

  Tensor operator()(Tensor x, const Offsets& offsets) const {
    x = around_self_(x, [&](Tensor rows) {
      const Packed packed{rows, offsets};
      return self_->attend({packed}, self_->prepare({packed})).context;
    });
    return around_feed_forward_(x, feed_forward_);
  }

 private:
  std::unique_ptr<attend::Mechanism> self_;
  FeedForward feed_forward_;
  Residual around_self_, around_feed_forward_;
};

class TransformerEncoder final : public Encoder {
 public:
  TransformerEncoder(const Scope& scope, const StackOptions& o) : width_(o.width) {
    for (int64_t l = 0; l < o.layers; ++l) blocks_.emplace_back(scope / std::to_string(l), o);
    if (o.pre_norm) norm_ = LayerNorm(scope / "norm", o.width);
  }

  Encoded run(const Packed& x) const override {
    Tensor rows = x.rows;
    for (const Block& block : blocks_) rows = rows.tape().only_result([&] { return block(rows, x.offsets); });
    return {{norm_.gain ? norm_(rows) : rows, x.offsets}};
  }
  int64_t width() const override { return width_; }

 private:
  int64_t width_;
  std::vector<Block> blocks_;
  LayerNorm norm_;  // after the last block, with pre_norm
};

}  // namespace

std::unique_ptr<Encoder> transformer(const Scope& scope, const StackOptions& options) {
  expect(options.width > 0 && options.layers > 0, "transformer: width {} and layers {} must be above 0", options.width,
         options.layers);
  return std::make_unique<TransformerEncoder>(scope, options);
}

const EncoderEntry transformer_encoder = {
    .name = "transformer",
    .meaning = "blocks of self-attention and feed-forward layers",
    .needs_positions = true,
    .make = transformer,
};

}  // namespace heed::encode
