// Blocks of masked self-attention and feed-forward layers.   Radford et al. 2018
#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "heed/model/decode/text_decoder.h"
#include "heed/model/encode/attention_options.h"
#include "heed/model/encode/block.h"

namespace heed::decode {

namespace {

using encode::SelfAttentionBlock;

/// What a token sees while a text is written is never more than it saw in training.
attend::Options self_attention(const TextDecoderOptions& o, int64_t layer) {
  attend::Options a = encode::text_self_attention(o.stack, layer);
  const attend::Parts parts = attend::resolve(a);
  if (parts.has_region(attend::sliding_window_entry) || parts.has_region(attend::sinks_entry)) return a;
  if (parts.has_region(attend::local_m_entry) && a.window <= o.context) return a;
  expect(!parts.has_region(attend::local_h_entry),
         "attention: region = \"{}\" has a window of its own, and so has a text that is longer than model.context: use "
         "{} or {}",
         attend::local_h_entry.name, attend::local_m_entry.name, attend::sliding_window_entry.name);
  a.region += std::string("+") + attend::sliding_window_entry.name;
  a.window = o.context;
  return a;
}

class TextTransformer final : public TextDecoder {
 public:
  TextTransformer(const Scope& scope, const TextDecoderOptions& o) : width_(o.stack.width) {
    for (int64_t l = 0; l < o.stack.layers; ++l) {
      const attend::Options a = self_attention(o, l);
      const bool by_document = attend::resolve(a).has_region(attend::documents_entry);
      expect(l == 0 || by_document == by_document_,
             "model: region = \"documents\" is for all layers or for none: a layer without it would carry what other "
             "documents say into those with it");
      by_document_ = by_document;
      blocks_.emplace_back(scope / std::to_string(l), o.stack, encode::BlockAttention{encode::kDecoderPlace, l, a});
    }
    if (o.stack.has_final_norm()) norm_ = RowNorm(scope / "norm", o.stack.width, o.stack.norm);
  }

  Tensor run(const Packed& x, const Pieces& pieces) const override {
    Tensor rows = x.rows;
    for (const SelfAttentionBlock& block : blocks_)
      rows = rows.tape().only_result([&] {
        return block(rows, [&](Tensor each) {
          const Packed packed{each, x.offsets};
          const attend::Memory memory{.rows = packed, .documents = by_document_ ? pieces.documents : nullptr};
          return block.self()
              .attend({.rows = packed, .documents = memory.documents}, block.self().prepare(memory))
              .context;
        });
      });
    return norm_ ? norm_(rows) : rows;
  }

  std::unique_ptr<State> start(Tape&, int64_t sequences, int64_t longest) const override {
    auto state = std::make_unique<State>(sequences, longest);
    for (const SelfAttentionBlock& block : blocks_) state->add_self_attention(block.self());
    return state;
  }

  Tensor step(Tensor x, State& state) const override {
    for (size_t l = 0; l < blocks_.size(); ++l)
      x = blocks_[l](x, [&](Tensor rows) { return state.attend_to_self(l, rows); });
    state.advance();
    return norm_ ? norm_(x) : x;
  }

  int64_t width() const override { return width_; }

 private:
  int64_t width_;
  bool by_document_ = false;
  std::vector<SelfAttentionBlock> blocks_;
  RowNorm norm_;  // after the last block, with pre_norm or final_norm
};

}  // namespace

const TextDecoderEntry transformer_text_decoder = {
    .name = "transformer",
    .meaning = "blocks of masked self-attention and feed-forward layers",
    .needs_positions = true,
    .reads_windows = true,
    .keys = "hidden activation norm positions max_length",
    .updates_to_learn = 5000,
    .self_attention = true,
    .make = [](const Scope& scope, const TextDecoderOptions& o) -> std::unique_ptr<TextDecoder> {
      return std::make_unique<TextTransformer>(scope, o);
    },
};

}  // namespace heed::decode
