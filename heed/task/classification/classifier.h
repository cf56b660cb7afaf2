// Labels for a text: tokens -> vectors -> states -> one vector -> classes.
//
//   flat           encoder over the tokens, pooled
//   hierarchical   encoder over the tokens of each sentence, pooled; encoder over the sentences, pooled.
//                  Yang et al. 2016
//   two texts      one encoder over the tokens of each; the states of the second attend to those of the first; both
//                  side by side, pooled.  Rocktäschel et al. 2016
//
// Pooling is any mechanism of the catalogue that has its own queries (learned_query, structured, feed_forward,
// self_scored), or the mean or the largest number of each column. Of two texts, [attention] says how the second attends
// to the first, and pooling has one learned query.
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
#include "heed/model/pool.h"

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

 private:
  /// How the states of a sequence become one vector.
  struct Pooling {
    std::unique_ptr<attend::Mechanism> mechanism;  // null: the mean or the maximum
    model::Pool how = model::Pool::attention;
    int64_t width = 0;
    model::PoolLayer layer;

    Pooling(const Scope& scope, const model::Options& options, int64_t input);
    /// states [tokens, input] -> [sequences, width]
    Tensor operator()(const Packed& states, attend::Weights* weights, Tensor* penalty) const;
  };
  struct Level {
    std::unique_ptr<encode::Encoder> encoder;
    std::unique_ptr<attend::Mechanism> to_first;  // two texts: of the second's states
    std::unique_ptr<Pooling> pool;

    Level(const Scope& scope, const model::Options& options, int64_t input);
  };

  Tensor vectors(Tape& tape, const data::Sources& texts, Judged* judged, Tensor* penalty) const;
  Tensor vectors_of_two(Tape& tape, const data::Sources& texts, Judged* judged) const;

  model::Options options_;
  embed::Embed embed_;
  std::unique_ptr<Level> token_level_, text_level_;
  Linear output_;
};

}  // namespace heed::task
