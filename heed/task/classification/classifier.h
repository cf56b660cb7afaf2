// Labels for a text: tokens -> vectors -> states -> one vector -> classes.
//
//   flat           encoder over the tokens, pooled
//   hierarchical   encoder over the tokens of each sentence, pooled; encoder over the sentences, pooled.
//                  Yang et al. 2016
//   two texts      one encoder over the tokens of each, or of both; how they become one vector: relation/all.h
//
// Pooling is any mechanism of the catalogue that has its own queries (learned_query, structured, feed_forward,
// self_scored), or the mean or the largest number of each column. Of two texts, [attention] says how one attends to the
// other, and pooling, if there is any, has one learned query. A hidden layer may stand before the labels.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "heed/attend/mechanism.h"
#include "heed/data/batch.h"
#include "heed/layer/linear.h"
#include "heed/model/embed/embed.h"
#include "heed/model/encode/encoder.h"
#include "heed/model/model.h"
#include "heed/model/options.h"
#include "heed/task/classification/relation/relation.h"
#include "heed/tensor/op/activation.h"

namespace heed::task {

/// What a text was judged by. Weights are there on request, and where pooling has some.
struct Judged {
  Tensor logits;  // [B, classes]
  /// Of the tokens of each sentence (flat: of each text): [S, 1, rows, longest]. Of two texts: what each token of the
  /// second looked at in the first, [B, heads, longest second, longest first].
  attend::Weights tokens;
  attend::Weights sentences;  // hierarchical: of the sentences of each text, [B, 1, 1, most]
};

class Classifier final : public model::Model {
 public:
  /// Classes: options.target_vocabulary.
  Classifier(Parameters& parameters, const model::Options& options);

  model::Loss loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const override;
  int64_t max_positions() const override { return embed_.max_positions(); }

  Judged judge(Tape& tape, const data::Sources& texts, bool weights) const;
  /// Whether a model of these options reads texts sentence by sentence.
  static bool reads_sentences(const model::Options& options);
  bool reads_sentences() const { return text_level_ != nullptr; }
  bool reads_two_texts() const { return options_.two_texts; }

  /// How the states of a sequence become one vector.
  struct Pooling {
    std::unique_ptr<attend::Mechanism> mechanism;  // null: the mean or the maximum
    bool largest = false;
    int64_t width = 0;

    Pooling(const Scope& scope, const model::Options& options, int64_t input);
    /// states [tokens, input] -> [sequences, width]
    Tensor operator()(const Packed& states, attend::Weights* weights, Tensor* penalty) const;
  };

 private:
  struct Level {
    std::unique_ptr<encode::Encoder> encoder;  // null: two texts are related by their vectors
    std::unique_ptr<Relation> relation;        // two texts
    std::unique_ptr<Pooling> pool;             // otherwise

    int64_t width() const { return relation ? relation->width() : pool->width; }
    Level(const Scope& scope, const model::Options& options, int64_t input);
  };

  Tensor vectors(Tape& tape, const data::Sources& texts, Judged* judged, Tensor* penalty) const;
  Tensor pooled(Tape& tape, const data::Sources& texts, Judged* judged, Tensor* penalty) const;

  model::Options options_;
  embed::Embed embed_;
  std::unique_ptr<Level> token_level_, text_level_;
  Linear hidden_;  // before the labels, if there is one, with its activation
  Activation activation_ = Activation::relu;
  Linear output_;
};

}  // namespace heed::task
