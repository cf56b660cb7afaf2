// A picture and perhaps a question in, words out: pixels -> cells of a map; the question -> where the decoder starts;
// the decoder looks at the cells and writes. A label is an answer of one token.
//
//   Xu et al. 2015: Show, attend and tell (captions);  Yang et al. 2016: Stacked attention networks (questions)
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/layer/linear.h"
#include "heed/model/embed/embed.h"
#include "heed/model/encode/encoder.h"
#include "heed/model/generator.h"
#include "heed/model/model.h"
#include "heed/model/options.h"
#include "heed/model/target_decoder.h"
#include "heed/task/image/picture_encoder.h"

namespace heed::task {

class PictureModel final : public model::Model, public model::Generator {
 public:
  PictureModel(Parameters& parameters, const model::Options& options);

  model::Loss loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const override;
  int64_t max_positions() const override;

  const model::Options& options() const { return options_; }
  int64_t cells_of_side() const { return task::cells_of_side(options_.picture_size, options_.picture_layers); }

  // ------------------------------------------------------------------------------------------------- for a search
  const model::Generator* generator() const override { return this; }
  /// Memory of the cells of each picture, and the state after the question.
  std::unique_ptr<decode::State> start(Tape& tape, const data::Sources& sources, int64_t longest) const override;
  Tensor step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
              decode::Alignment* alignment = nullptr) const override {
    return writer_.step(tokens, state, tape, alignment);
  }
  void each_logits(Tape& tape, const data::Sources& sources, const model::PackedIds& inputs,
                   const std::function<void(int64_t first, Tensor logits)>& visit) const override {
    writer_.each_logits(encode(tape, sources), sources, inputs, visit);
  }
  int64_t memory_rows(const data::Sources&, int64_t) const override { return cells_of_side() * cells_of_side(); }
  std::vector<int64_t> alignment_heads() const override { return writer_.alignment_heads(); }

 private:
  encode::Encoded encode(Tape& tape, const data::Sources& sources) const;

  model::Options options_;
  std::unique_ptr<PictureEncoder> picture_;
  // Of questions:
  embed::Embed words_;
  std::unique_ptr<encode::Encoder> question_;
  Linear asked_;  // mean of the states -> [B, width]
  model::TargetDecoder writer_;
};

}  // namespace heed::task
