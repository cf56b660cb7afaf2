// memory -> context -> logits: the half of a model that writes a target, whatever it attends to.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/decode/decoder.h"
#include "heed/embed/embed.h"
#include "heed/encode/encoder.h"
#include "heed/model/options.h"
#include "heed/model/output_layer.h"
#include "heed/tensor/op/output_loss.h"

namespace heed::model {

/// Token ids of targets, packed: they go in behind START and come out before END.
struct TargetBatch {
  std::span<const int32_t> in;       // [target tokens]: START, y_1, .., y_n
  std::span<const int32_t> out;      // [target tokens]: y_1, .., y_n, END
  std::span<const int64_t> offsets;  // [B + 1]
};

class Writer {
 public:
  Writer() = default;
  /// The vectors of targets, "target". `shared`: the table of the sources, or null.
  static embed::Embed vectors(const Scope& root, const Options& options, Parameter* shared = nullptr);
  /// Parameters: "decoder", "output", and "reinforce" where the attention draws.
  Writer(const Scope& root, const Options& options, const encode::Encoder& encoder, const embed::Embed& target);

  /// Teacher forcing; the loss of a whole batch. While training it holds what the attention asks for beside: the cost
  /// of straying (time = guided) and the reward of choices (normalise = hard_sampled).
  OutputLoss loss(const encode::Encoded& source, const TargetBatch& target, const OutputLossOptions& options) const;

  /// As Generator: reads a memory, and writes one more token of each row.
  std::unique_ptr<decode::State> start(const encode::Encoded& source, int64_t longest) const;
  Tensor step(std::span<const int32_t> tokens, decode::State& state, Tape& tape, decode::Alignment* alignment) const;

  /// Of the longest target and of a memory, as Model::max_positions().
  int64_t max_positions() const;
  std::vector<int64_t> alignment_heads() const { return decoder_->source_heads(); }

 private:
  Tensor attention_costs(const decode::AttentionCosts& costs, const TargetBatch& target, const OutputLoss& loss) const;

  attend::Options attention_ = {};
  embed::Embed target_;
  std::unique_ptr<decode::Decoder> decoder_;
  OutputLayer output_;
  Parameter* baseline_ = nullptr;  // hard_sampled: of the rewards, and 1 once there was one. Moves while training
};

}  // namespace heed::model
