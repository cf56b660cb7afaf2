// The next token of a text, from those before it:  tokens -> vectors -> states -> logits
#pragma once

#include <memory>

#include "heed/data/text_pieces.h"
#include "heed/decode/text_decoder.h"
#include "heed/embed/embed.h"
#include "heed/model/generator.h"
#include "heed/model/model.h"
#include "heed/model/options.h"

namespace heed::model {

class LanguageModel final : public Model, public Generator {
 public:
  /// Of options.target_vocabulary tokens.
  LanguageModel(Parameters& parameters, const Options& options);

  /// Of PackedPieces. A recurrent model goes on from batch.carried, and replaces it.
  OutputLoss loss(Tape& tape, const data::PackedBatch& batch, const OutputLossOptions& options) const override;
  int64_t max_positions() const override;

  // ------------------------------------------------------------------------------------------------- for a search
  const Generator* generator() const override { return this; }
  /// Reads the sources, the beginnings of texts, but for the last token of each: the search passes that to step(). All
  /// must have the same length, at least 1.
  std::unique_ptr<decode::State> start(Tape& tape, const PackedIds& sources, int64_t longest) const override;
  Tensor step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
              decode::Alignment* alignment = nullptr) const override;
  std::vector<int64_t> alignment_heads() const override { return {}; }
  int32_t first_token(std::span<const int32_t> source, int32_t) const override { return source.back(); }
  bool mixes_lengths() const override { return false; }

 private:
  Tensor states(std::span<const int32_t> tokens, decode::State& state, Tape& tape) const;

  Options options_;
  bool by_document_ = false;  // region documents: the pieces of a stretch are one sequence
  embed::Embed embed_;
  std::unique_ptr<decode::TextDecoder> decoder_;
  Parameter* output_weight_ = nullptr;
  Parameter* output_bias_ = nullptr;
};

}  // namespace heed::model
