// memory -> context -> logits: the half of a model that writes a target, whatever it attends to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/attend/census.h"
#include "heed/model/copying.h"
#include "heed/model/decode/decoder.h"
#include "heed/model/embed/embed.h"
#include "heed/model/encode/encoder.h"
#include "heed/model/generator.h"
#include "heed/model/model.h"
#include "heed/model/options.h"
#include "heed/model/output_layer.h"
#include "heed/tensor/op/output_loss.h"

namespace heed::model {

/// The options of the attentions to the source that are guided; nothing if none is. Throws if they differ.
std::optional<attend::Options> guided_of(const std::vector<attend::Made>& to_source);

/// What straying from the diagonal costs (time = guided), added up over the rows as a loss is: of each layer [H, rows].
/// Empty if there are none.
Tensor guide_cost(std::span<const Tensor> of_layers, const attend::Options& attention, int64_t updates_before);

/// What the rows of a batch cost without drawing: row_nll of `loss` on a tape that does not train, if it is needed.
class SelfCriticalBaseline {
 public:
  SelfCriticalBaseline(bool needed, const std::function<OutputLoss(Tape&)>& loss);
  std::span<const float> row_nll() const { return row_nll_; }  // empty if it was not needed

 private:
  std::optional<Tape> tape_;
  std::span<const float> row_nll_;  // in the memory of the tape
};

class TargetDecoder {
 public:
  TargetDecoder() = default;
  /// The vectors of targets, "target". `shared`: the table of the sources, or null.
  static embed::Embed vectors(const Scope& root, const Options& options, Parameter* shared = nullptr);
  /// Parameters: "decoder", "output", "reinforce" where the attention draws, and "copy" where it copies.
  TargetDecoder(const Scope& root, const Options& options, const encode::Encoder& encoder, const embed::Embed& target);

  /// Teacher forcing; the loss of a whole batch. While training it holds what the attention asks for beside: the cost
  /// of straying (time = guided), the reward of choices (normalise = hard_sampled), and the cost of looking elsewhere
  /// than given alignments. `undrawn_nll` [target tokens]: where needs_self_critical_baseline(), what the rows cost
  /// without drawing.
  Loss loss(const encode::Encoded& source, const data::Batch& batch, const OutputLossOptions& options,
            std::span<const float> undrawn_nll = {}) const;

  /// Of attention that draws, with baseline = "self_critical": while training, loss() compares the rewards of its
  /// choices with the row_nll of the same batch on a tape that does not train.
  bool needs_self_critical_baseline(const Tape& tape) const;

  /// Teacher forcing: all next tokens at once -> logits, some rows at a time; see Generator::each_logits().
  void each_logits(const encode::Encoded& source, const data::Sources& sources, const PackedIds& inputs,
                   const std::function<void(int64_t first, Tensor logits)>& visit) const;

  /// As Generator: reads a memory, and writes one more token of each row. `sources`: what the memory was made of.
  std::unique_ptr<decode::State> start(const encode::Encoded& source, const data::Sources& sources,
                                       int64_t longest) const;
  Tensor step(std::span<const int32_t> tokens, decode::State& state, Tape& tape, decode::Alignment* alignment) const;

  /// Of the longest target and of a memory, as Model::max_positions().
  int64_t max_positions() const;
  std::vector<int64_t> alignment_heads() const { return decoder_->source_heads(); }

 private:
  void check_alignment_options() const;
  Loss copied_loss(const Packed& target, const encode::Encoded& source, const data::Batch& batch,
                   decode::AttentionCosts& costs, const OutputLossOptions& options) const;
  Tensor attention_costs(const decode::AttentionCosts& costs, const data::Batch& batch, Loss& loss,
                         std::span<const float> undrawn_nll) const;
  Tensor alignment_cost(const decode::AttentionCosts& costs, const data::Batch& batch) const;

  std::optional<attend::Options> guided_, drawn_;  // of attention to the source that has these costs
  int64_t longest_memory_ = 0;                     // of any attention in it
  AlignOptions align_ = {};
  embed::Embed target_;
  std::unique_ptr<decode::Decoder> decoder_;
  OutputLayer output_;
  Copying copying_;
  Parameter* baseline_ = nullptr;  // hard_sampled: Loss::baseline moves it
};

}  // namespace heed::model
