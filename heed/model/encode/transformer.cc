#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "heed/base/fields.h"
#include "heed/model/encode/all.h"
#include "heed/model/encode/attention_options.h"
#include "heed/model/encode/block.h"
#include "heed/model/encode/choices.h"
#include "heed/model/encode/shared_layers.h"

namespace heed::encode {

FeedForward make_feed_forward(const Scope& scope, const StackOptions& o) {
  const FeedForwardForm form = value_of(kActivations, o.activation, "transformer: activation");
  FeedForwardOptions f{.width = o.width, .hidden = o.hidden, .dropout = o.dropout};
  f.activation = form.activation;
  f.gated = form.gated;
  f.bias = o.bias;
  return {scope, f};
}

SelfAttentionBlock::SelfAttentionBlock(const Scope& scope, const StackOptions& o, const BlockAttention& self)
    : self_(make_attention(scope / "self", o.places, self.place, self.layer, self.options)),
      feed_forward_(make_feed_forward(scope / "feed_forward", o)),
      around_self_(scope / "self", o),
      around_feed_forward_(scope / "feed_forward", o) {}

namespace {

class TransformerEncoder final : public Encoder {
 public:
  TransformerEncoder(const Scope& scope, const StackOptions& o)
      : width_(o.width), layers_(o.layers), hands_over_(o.hands_over_blocks()) {
    for (int64_t l = 0; l < (o.own.of<TransformerEncoderKeys>().shared_layers ? 1 : o.layers); ++l)
      blocks_.emplace_back(scope / std::to_string(l), o,
                           BlockAttention{kEncoderPlace, l, encoder_self_attention(o, l)});
    if (o.has_final_norm()) norm_ = RowNorm(scope / "norm", o.width, o.norm);
  }

  Encoded run(const Packed& x) const override {
    Tensor rows = x.rows;
    Encoded encoded;
    for (int64_t l = 0; l < layers_; ++l) {
      const SelfAttentionBlock& block = blocks_[blocks_.size() == 1 ? 0 : static_cast<size_t>(l)];
      rows = rows.tape().only_result([&] {
        return block(rows, [&](Tensor each) {
          const Packed packed{each, x.offsets};
          return block.self().attend({packed}, block.self().prepare({packed})).context;
        });
      });
      if (hands_over_) encoded.blocks.push_back(normed(rows));
    }
    encoded.memory = {hands_over_ ? encoded.blocks.back() : normed(rows), x.offsets};
    return encoded;
  }
  int64_t width() const override { return width_; }
  int64_t blocks() const override { return hands_over_ ? layers_ : 0; }

 private:
  Tensor normed(Tensor rows) const { return norm_ ? norm_(rows) : rows; }

  int64_t width_, layers_;
  bool hands_over_;
  std::vector<SelfAttentionBlock> blocks_;  // one that is run again and again, if layers share their weights
  RowNorm norm_;                            // of what is handed over, with pre_norm or final_norm: one for all blocks
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
    .keys = "hidden activation norm positions max_length shared_layers",
    .add_keys =
        [](file::Fields& fields, OwnOptions& options) {
          fields.add("model.shared_layers", options.of<TransformerEncoderKeys>().shared_layers,
                     "transformer: all layers of the encoder have the same weights");
        },
    .updates_to_learn = 5000,
    .self_attention = true,
    .make = transformer,
};

}  // namespace heed::encode
