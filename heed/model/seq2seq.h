// Sequence to sequence:  tokens -> vectors -> memory -> context -> logits
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/model/embed/embed.h"
#include "heed/model/encode/encoder.h"
#include "heed/model/generator.h"
#include "heed/model/model.h"
#include "heed/model/options.h"
#include "heed/model/target_decoder.h"

namespace heed::model {

/// Sizes and vocabularies of a model with an encoder and a decoder. Throws, naming the option.
void check_sizes(const Options& options);

class Seq2Seq final : public Model, public Generator {
 public:
  Seq2Seq(Parameters& parameters, const Options& options);

  const Options& options() const { return options_; }

  encode::Encoded encode(Tape& tape, const data::Sources& sources) const;
  /// Teacher forcing; the loss of a whole batch.
  Loss loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const override;

  int64_t max_positions() const override;

  // ------------------------------------------------------------------------------------------------- for a search
  const Generator* generator() const override { return this; }
  std::unique_ptr<decode::State> start(Tape& tape, const data::Sources& sources, int64_t longest) const override;
  Tensor step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
              decode::Alignment* alignment = nullptr) const override;
  void each_logits(Tape& tape, const data::Sources& sources, const PackedIds& inputs,
                   const std::function<void(int64_t first, Tensor logits)>& visit) const override;
  std::vector<int64_t> alignment_heads() const override { return target_decoder_.alignment_heads(); }

 private:
  Options options_;
  embed::Embed source_;
  std::unique_ptr<encode::Encoder> encoder_;
  TargetDecoder target_decoder_;
  int64_t longest_memory_ = 0;  // of any attention
};

}  // namespace heed::model
