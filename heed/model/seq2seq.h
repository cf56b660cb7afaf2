// Sequence to sequence:  tokens -> vectors -> memory -> context -> logits
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/attend/options.h"
#include "heed/decode/decoder.h"
#include "heed/embed/embed.h"
#include "heed/encode/encoder.h"
#include "heed/tensor/op/output_loss.h"

namespace heed::model {

struct Seq2SeqOptions {
  std::string kind = "rnn";  // rnn or transformer
  int64_t source_vocabulary = 0;
  int64_t target_vocabulary = 0;
  int64_t width = 256;  // of vectors and states
  int64_t encoder_layers = 1;
  int64_t decoder_layers = 1;
  float dropout = 0.1f;
  /// Embeddings that are one table: none; decoder, its input and output; all, the source's too (one vocabulary).
  std::string tied = "none";
  /// rnn: between decoder and encoder, any of the catalogue that takes queries. transformer: in all heads, where what
  /// speaks of places in one sequence (region, position) belongs to self-attention, and what speaks of a target that
  /// walks along a source (time, local_p, hard_sampled) to the attention to the source, which is otherwise global:
  /// encode/attention_options.h has the table. What fits nowhere is refused with the reason.
  attend::Options attention = {};

  // rnn
  std::string cell = "gru";   // gru or lstm
  bool bidirectional = true;  // the encoder
  bool input_feeding = false;

  // transformer
  int64_t hidden = 0;                 // of the feed-forward layers; 0: 4 * width
  std::string activation = "relu";    // relu, gelu or swish (gated)
  std::string norm = "post";          // post, as in the paper, or pre
  std::string positions = "sin_cos";  // added to vectors: sin_cos, learned; in self-attention: rotary, alibi; or none
  int64_t max_length = 512;           // learned positions; longest target of a search
};

/// Token ids of a batch, packed. Targets go in behind START and come out before END.
struct Seq2SeqBatch {
  std::span<const int32_t> source;          // [source tokens]
  std::span<const int64_t> source_offsets;  // [B + 1]
  std::span<const int32_t> target_in;       // [target tokens]: START, y_1, .., y_n
  std::span<const int32_t> target_out;      // [target tokens]: y_1, .., y_n, END
  std::span<const int64_t> target_offsets;  // [B + 1]
};

class Seq2Seq {
 public:
  Seq2Seq(Parameters& parameters, const Seq2SeqOptions& options);

  const Seq2SeqOptions& options() const { return options_; }

  encode::Encoded encode(Tape& tape, std::span<const int32_t> ids, std::span<const int64_t> offsets) const;
  /// Teacher forcing; the loss of a whole batch. While training it holds what the attention asks for beside: the cost
  /// of straying (time = guided) and the reward of choices (normalise = hard_sampled).
  OutputLoss loss(Tape& tape, const Seq2SeqBatch& batch, const OutputLossOptions& options) const;

  // ------------------------------------------------------------------------------------------------- for a search
  std::unique_ptr<decode::State> start(const encode::Encoded& source, int64_t longest) const;
  /// The tokens of the step before [B] -> logits [B, target_vocabulary]. `position`: of the tokens in their sequences.
  Tensor step(std::span<const int32_t> tokens, int64_t position, decode::State& state, Tape& tape,
              decode::Alignment* alignment = nullptr) const;

 private:
  Tensor attention_costs(const decode::AttentionCosts& costs, const Seq2SeqBatch& batch, const OutputLoss& loss) const;

  Seq2SeqOptions options_;
  embed::Embed source_, target_;
  std::unique_ptr<encode::Encoder> encoder_;
  std::unique_ptr<decode::Decoder> decoder_;
  Parameter* output_weight_ = nullptr;
  Parameter* output_bias_ = nullptr;
  Parameter* baseline_ = nullptr;  // hard_sampled: of the rewards, and 1 once there was one. Moves while training
};

}  // namespace heed::model
