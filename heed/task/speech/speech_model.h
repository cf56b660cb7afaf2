// A recording in, words out: frames -> vectors -> memory; the decoder looks at it and writes. A label is an answer of
// one token.   Chan et al. 2016: Listen, attend and spell
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/model/encode/encoder.h"
#include "heed/model/generator.h"
#include "heed/model/model.h"
#include "heed/model/options.h"
#include "heed/model/target_decoder.h"
#include "heed/task/speech/frame_convolution.h"

namespace heed::task {

class SpeechModel final : public model::Model, public model::Generator {
 public:
  SpeechModel(Parameters& parameters, const model::Options& options);

  model::Loss loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const override;
  int64_t max_positions() const override { return writer_.max_positions(); }

  const model::Options& options() const { return options_; }
  encode::Encoded encode(Tape& tape, const data::Sources& sources) const;

  // ------------------------------------------------------------------------------------------------- for a search
  const model::Generator* generator() const override { return this; }
  std::unique_ptr<decode::State> start(Tape& tape, const data::Sources& sources, int64_t longest) const override;
  Tensor step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
              decode::Alignment* alignment = nullptr) const override {
    return writer_.step(tokens, state, tape, alignment);
  }
  void each_logits(Tape& tape, const data::Sources& sources, const model::PackedIds& inputs,
                   const std::function<void(int64_t first, Tensor logits)>& visit) const override;
  int64_t memory_rows(const data::Sources& sources, int64_t b) const override;
  std::vector<int64_t> alignment_heads() const override { return writer_.alignment_heads(); }

 private:
  Tensor ctc_cost(const encode::Encoded& heard, const data::Targets& targets, float scale) const;

  model::Options options_;
  FrameConvolution frames_;
  std::unique_ptr<encode::Encoder> encoder_;
  bool sinusoids_ = false;  // are added to what the encoder reads
  model::TargetDecoder writer_;
  Linear ctc_;  // of the memory, where SpeechOptions::ctc asks for it: "ctc"
};

}  // namespace heed::task
