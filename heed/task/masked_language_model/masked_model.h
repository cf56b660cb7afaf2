// The tokens that a text lacks, from all that stand around them:  tokens -> vectors -> states -> logits
//
// As BERT (Devlin et al. 2019): the states of an encoder, which looks both ways; of those that are asked about, with
// model.transform, norm(f(W h + b)); and an output layer, which may be the table of vectors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/layer/linear.h"
#include "heed/layer/norm.h"
#include "heed/model/embed/embed.h"
#include "heed/model/encode/encoder.h"
#include "heed/model/model.h"
#include "heed/model/options.h"
#include "heed/model/output_layer.h"
#include "heed/tensor/op/activation.h"

namespace heed::task {

class MaskedModel final : public model::Model {
 public:
  /// Of options.source_vocabulary tokens, which is options.target_vocabulary.
  MaskedModel(Parameters& parameters, const model::Options& options);

  /// Of texts, and of the tokens at Targets::places, which the texts lack or hold something else instead of.
  model::Loss loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const override;
  int64_t max_positions() const override;

  /// A token of one of the texts.
  struct Asked {
    int64_t text = 0, place = 0;
  };
  /// -> [asked, vocabulary]. A token that is missing is embed::kBlank.
  Tensor logits(Tape& tape, const data::Sequences& texts, std::span<const Asked> asked) const;

 private:
  /// -> [asked, width]
  Tensor states(Tape& tape, const data::Sequences& texts, std::span<const int64_t> rows) const;

  model::Options options_;
  int64_t longest_memory_ = 0;  // of any attention
  embed::Embed embed_;
  std::unique_ptr<encode::Encoder> encoder_;
  Linear transform_;
  RowNorm transform_norm_;
  Activation activation_ = Activation::relu;
  model::OutputLayer output_;
};

}  // namespace heed::task
