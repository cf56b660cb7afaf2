// A decoder that writes words of the source: the weights of its attention are the probabilities of copying.
// Pointer-generator networks: See, Liu and Manning 2017, "Get To The Point: Summarization with Pointer-Generator
// Networks"
//
//   p(w) = g P(w) + (1 - g) sum_{i: x_i = w} a_ti        g = sigmoid(W s_t + b); s_t: the decoder's last states
//
// So a word that the target's vocabulary lacks can be written: its id is behind those of the vocabulary, and follows
// from the source (data::Source::copies). What the decoder reads of such a word is the vector of <unk>.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/attend/given_alignments.h"
#include "heed/data/batch.h"
#include "heed/layer/linear.h"
#include "heed/model/decode/decoder.h"
#include "heed/model/options.h"
#include "heed/model/output_layer.h"

namespace heed::model {

/// Of each target token, the places of its source that have it: as given alignments, whose weight the loop sums up.
class CopyLinks {
 public:
  explicit CopyLinks(const data::Batch& batch);
  attend::GivenAlignments view() const { return {sequences_, rows_, keys_}; }

 private:
  std::span<const int64_t> sequences_;
  std::vector<int64_t> rows_ = {0};
  std::vector<int32_t> keys_;
};

class Copying {
 public:
  Copying() = default;
  /// Parameters: "copy.gate". `width`: of the decoder's states; `heads`: of its attention to the source, layer by
  /// layer.
  Copying(const Scope& root, const Options& options, int64_t width, const std::vector<int64_t>& heads);
  explicit operator bool() const { return gate_.weight != nullptr; }

  /// Target tokens as the decoder reads them: kUnknown for those that only the source has. In the tape's memory.
  std::span<const int32_t> readable(std::span<const int32_t> tokens, Tape& tape) const;

  /// What is asked of the attention to the source. The links must live until ask() of the decoder is over.
  void ask(decode::AttentionCosts& costs, const attend::GivenAlignments& links) const;
  /// The loss of the targets, from what the attention answered. The cost of coverage is in it while training.
  OutputLoss loss(const OutputLayer& output, Tensor states, const decode::AttentionCosts& costs,
                  const data::Batch& batch, const OutputLossOptions& options) const;

  /// The columns of distribution() for these sources.
  int64_t columns(const data::Sequences& copies) const;
  /// A row of states, and where it looked: sequence and query of an alignment, and what its source has to copy.
  struct Row {
    int64_t sequence, query;
    std::span<const int32_t> copies;
  };
  /// states [n, width], logits [n, vocabulary] -> log p [n, columns]
  Tensor distribution(Tensor states, Tensor logits, const decode::Alignment& alignment, std::span<const Row> rows,
                      int64_t columns) const;

  /// For pictures: tells whoever watches what share of each target token was copied from where, (1 - g) a_ti, as an
  /// attention of the name kWatched. The targets are those of the batch.
  static constexpr const char* kWatched = "copy";
  void show(Tensor states, const decode::Alignment& alignment, const Offsets& targets, const Offsets& sources) const;

 private:
  const attend::Weights& chosen_layer(const decode::Alignment& alignment) const;
  void mean_weights(const attend::Weights& layer, int64_t sequence, int64_t query, std::span<float> to) const;
  size_t layer_of(size_t layers) const;

  CopyOptions options_;
  int64_t vocabulary_ = 0;
  Linear gate_;
};

}  // namespace heed::model
