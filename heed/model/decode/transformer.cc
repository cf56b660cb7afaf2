#include "heed/attend/all.h"
#include "heed/model/decode/all.h"
#include "heed/model/decode/wiring.h"
#include "heed/model/encode/attention_options.h"
#include "heed/model/encode/block.h"

namespace heed::decode {

namespace {

using encode::Residual;
using encode::StackOptions;

class Block {
 public:
  Block(const Scope& scope, const StackOptions& o, const encode::BlockAttention& self, int64_t memory_width)
      : self_(encode::make_attention(scope / "self", o.places, self.place, self.layer, self.options)),
        cross_(encode::make_attention(scope / "source", o.places, encode::kSourcePlace, self.layer,
                                      encode::source_attention(o, memory_width, self.layer))),
        feed_forward_(encode::make_feed_forward(scope / "feed_forward", o)),
        around_self_(scope / "self", o),
        around_cross_(scope / "source", o),
        around_feed_forward_(scope / "feed_forward", o) {}

  /// `weights` and `costs` of the attention to the source, on request.
  Tensor run(const Packed& target, const Packed& memory, attend::Weights* weights, AttentionCosts* costs) const {
    const Offsets& offsets = target.offsets;
    Tensor x = target.rows;
    x = around_self_(x, [&](Tensor rows) {
      const Packed packed{rows, offsets};
      return self_->attend({packed}, self_->prepare({packed})).context;
    });
    x = around_cross_(x, [&](Tensor rows) {
      const bool wanted = weights != nullptr;
      const attend::Request request = costs ? costs->request(wanted) : attend::Request{.weights = wanted};
      const attend::Attended a = cross_->attend({{rows, offsets}}, cross_->prepare({memory}), {}, request);
      if (weights) *weights = a.weights;
      if (costs) costs->add(a);
      return a.context;
    });
    return around_feed_forward_(x, feed_forward_);
  }

  void start(State& state, const Packed& memory) const {
    state.add_self_attention(*self_);
    state.add_source_attention(*cross_, {memory});
  }

  /// As block number `number`.
  Tensor step(Tensor x, State& state, size_t number, attend::Weights* weights) const {
    x = around_self_(x, [&](Tensor rows) { return state.attend_to_self(number, rows); });
    x = around_cross_(x, [&](Tensor rows) { return state.attend_to_source(number, rows, weights); });
    return around_feed_forward_(x, feed_forward_);
  }

  int64_t source_heads() const { return cross_->traits().heads; }

 private:
  std::unique_ptr<attend::Mechanism> self_, cross_;
  FeedForward feed_forward_;
  Residual around_self_, around_cross_, around_feed_forward_;
};

/// What the rows of a block ask each other.
using SelfAttention = attend::Options (*)(const StackOptions& options, int64_t layer);

class TransformerDecoder final : public Decoder {
 public:
  TransformerDecoder(const Scope& scope, const StackOptions& o, SelfAttention self, const encode::Encoder& encoder)
      : width_(o.width), wiring_(scope, o.wiring, o.layers, encoder) {
    for (int64_t l = 0; l < o.layers; ++l)
      blocks_.emplace_back(scope / std::to_string(l), o, encode::BlockAttention{encode::kDecoderPlace, l, self(o, l)},
                           encoder.width());
    if (o.has_final_norm()) norm_ = RowNorm(scope / "norm", o.width, o.norm);
  }

  Tensor run(const Packed& x, const encode::Encoded& source, Alignment* alignment,
             AttentionCosts* costs) const override {
    Tensor rows = x.rows;
    if (alignment) alignment->layers.resize(blocks_.size());
    for (size_t l = 0; l < blocks_.size(); ++l)
      rows = blocks_[l].run({rows, x.offsets}, wiring_.memory(l, source), alignment ? &alignment->layers[l] : nullptr,
                            costs);
    return norm_ ? norm_(rows) : rows;
  }

  std::unique_ptr<State> start(const encode::Encoded& source, int64_t longest) const override {
    auto state = std::make_unique<State>(source.memory.offsets, longest);
    for (size_t l = 0; l < blocks_.size(); ++l) blocks_[l].start(*state, wiring_.memory(l, source));
    return state;
  }

  Tensor step(Tensor x, State& state, Alignment* alignment) const override {
    if (alignment) alignment->layers.resize(blocks_.size());
    for (size_t l = 0; l < blocks_.size(); ++l)
      x = blocks_[l].step(x, state, l, alignment ? &alignment->layers[l] : nullptr);
    state.advance();
    return norm_ ? norm_(x) : x;
  }

  int64_t width() const override { return width_; }
  std::vector<int64_t> source_heads() const override {
    std::vector<int64_t> heads;
    for (const Block& block : blocks_) heads.push_back(block.source_heads());
    return heads;
  }

 private:
  int64_t width_;
  SourceWiring wiring_;
  std::vector<Block> blocks_;
  RowNorm norm_;  // after the last block, with pre_norm or final_norm
};

}  // namespace

std::unique_ptr<Decoder> transformer(const Scope& scope, const StackOptions& options, const encode::Encoder& encoder) {
  return std::make_unique<TransformerDecoder>(scope, options, encode::decoder_self_attention, encoder);
}

std::unique_ptr<ParallelDecoder> parallel_transformer(const Scope& scope, const StackOptions& options,
                                                      const encode::Encoder& encoder) {
  return std::make_unique<TransformerDecoder>(scope, options, encode::parallel_self_attention, encoder);
}

const DecoderEntry transformer_decoder = {
    .name = "transformer",
    .meaning = "blocks of self-attention, attention to the source and feed-forward layers",
    .needs_positions = true,
    .keys = "hidden activation norm positions max_length",
    .updates_to_learn = 5000,
    .self_attention = true,
    .make = transformer,
};

}  // namespace heed::decode
