// Sequence to sequence, all positions of the target at once: a conditional masked language model.
//
//   log p(y | x) = log p(n | x) + sum_i log p(y_i | x, the tokens that are known)
//
// In training a number of tokens of each target, drawn evenly from 1 to all, is left blank, and the loss is that of the
// blank ones, scaled up to all tokens, and of the length n. Otherwise everything is blank: p(y_i | x), one pass. With
// model.length = "slots" there is no p(n | x): END is predicted like a token, and what follows it does not count.
//
// Blanks are told apart by their positions alone. So the vectors of the target have positions in any case: sinusoidal,
// if model.positions names what is not added to vectors (rotary, alibi, none).
//
//   Ghazvininejad et al. 2019: Mask-Predict: parallel decoding of conditional masked language models
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "heed/model/embed/embed.h"
#include "heed/model/encode/encoder.h"
#include "heed/model/length_classifier.h"
#include "heed/model/model.h"
#include "heed/model/options.h"
#include "heed/model/output_layer.h"
#include "heed/model/parallel_generator.h"
#include "heed/model/seq2seq.h"

namespace heed::model {

class ParallelModel final : public Model, public ParallelGenerator {
 public:
  /// Parameters: those of Seq2Seq with the same options, "target.blank", and with a classifier "length".
  ParallelModel(Parameters& parameters, const Options& options);

  const Options& options() const { return options_; }

  /// A row for each token, and for the length, or END, behind them.
  Loss loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const override;

  int64_t max_positions() const override;
  int64_t max_predictions() const override;

  // ------------------------------------------------------------------------------------------------- for a search
  const ParallelGenerator* parallel_generator() const override { return this; }
  ReadSources read(Tape& tape, const data::Sources& sources) const override;
  Tensor write(Tape& tape, const ReadSources& sources, const Drafts& drafts,
               decode::Alignment* alignment = nullptr) const override;
  int64_t slots() const override { return slots_; }
  std::vector<int64_t> alignment_heads() const override { return decoder_->source_heads(); }

 private:
  encode::Encoded encode(Tape& tape, const data::Sources& sources) const;
  /// Adds the loss of the length of each target, times `share`; its row is that of the END.
  void add_lengths(OutputLoss& loss, float* row_nll, const encode::Encoded& source, const data::Targets& target,
                   float share) const;

  Options options_;
  int64_t slots_;                          // 0: a classifier
  int64_t longest_memory_ = 0;             // of any attention
  std::optional<attend::Options> guided_;  // of attention to the source
  embed::Embed source_, target_;
  std::unique_ptr<encode::Encoder> encoder_;
  std::unique_ptr<decode::ParallelDecoder> decoder_;
  OutputLayer output_;
  LengthClassifier length_;
};

}  // namespace heed::model
