// A label for a text: tokens -> vectors -> states -> one vector -> classes.
//
//   flat           encoder over the tokens, pooled
//   hierarchical   encoder over the tokens of each sentence, pooled; encoder over the sentences, pooled.
//                  Yang et al. 2016
//
// Pooling is any mechanism of the catalogue that has its own queries (learned_query, structured, feed_forward,
// self_scored), or the mean or the largest number of each column.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "heed/attend/mechanism.h"
#include "heed/data/labelled_texts.h"
#include "heed/embed/embed.h"
#include "heed/encode/encoder.h"
#include "heed/layer/linear.h"
#include "heed/model/model.h"
#include "heed/model/options.h"

namespace heed::model {

/// What a text was judged by. Weights are there on request, and where pooling has some.
struct Judged {
  Tensor logits;              // [B, classes]
  attend::Weights tokens;     // of the tokens of each sentence (flat: of each text): [S, 1, rows, longest]
  attend::Weights sentences;  // hierarchical: of the sentences of each text, [B, 1, 1, most]
};

class Classifier final : public Model {
 public:
  /// Classes: options.target_vocabulary.
  Classifier(Parameters& parameters, const Options& options);

  OutputLoss loss(Tape& tape, const data::PackedBatch& batch, const OutputLossOptions& options) const override;
  int64_t max_positions() const override { return embed_.max_positions(); }

  Judged judge(Tape& tape, const data::PackedTexts& batch, bool weights) const;
  /// Whether a model of these options reads texts sentence by sentence.
  static bool reads_sentences(const Options& options);
  bool reads_sentences() const { return text_level_ != nullptr; }

 private:
  /// An encoder and how its states become one vector.
  struct Level {
    std::unique_ptr<encode::Encoder> encoder;
    std::unique_ptr<attend::Mechanism> pool;  // null: the mean or the maximum
    bool largest = false;
    int64_t width = 0;

    Level(const Scope& scope, const Options& options, int64_t input);
    /// rows [tokens, input] -> [sequences, width]
    Tensor operator()(const Packed& rows, attend::Weights* weights, Tensor* penalty) const;
  };

  Tensor vectors(Tape& tape, const data::PackedTexts& batch, Judged* judged, Tensor* penalty) const;

  Options options_;
  embed::Embed embed_;
  std::unique_ptr<Level> token_level_, text_level_;
  Linear output_;
};

}  // namespace heed::model
