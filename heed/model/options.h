// The options of a model: one flat struct for all kinds of task, the [model] and [attention] sections of a recipe.
#pragma once

#include <cstdint>
#include <string>

#include "heed/attend/options.h"
#include "heed/model/encode/attention_places.h"
#include "heed/model/encode/own_options.h"

namespace heed::model {

/// A loss from given alignments (data::Targets::aligned_sources):
///   - weight * sum over target tokens with links of log(sum of its attention on them),  a mean over layers and heads
struct AlignOptions {
  float weight = 1.0f;
  std::string schedule = "constant";  // how the weight falls: attend/decay.h
  int64_t steps = 0;                  // of the schedule
  int64_t layer = -1, head = -1;      // which attention to the source learns from it, from 0; -1: all
};

/// A decoder that copies words of the source: heed/model/copying.h
struct CopyOptions {
  bool on = false;
  int64_t layer = -1, head = -1;  // whose attention to the source says what is copied, from 0; -1: last, mean of all
  float coverage = 0.0f;          // weight in the loss of looking again at what was looked at
};

struct Options {
  /// What it does: a name from heed/task/all.h.
  std::string task = "seq2seq";
  /// Encoder and decoder, names from heed/model/encode/all.h and heed/model/decode/all.h: one for both, or each
  /// separately.
  std::string kind = "rnn";
  std::string encoder = "", decoder = "";  // empty: `kind`

  int64_t source_vocabulary = 0;  // both follow from the data
  int64_t target_vocabulary = 0;
  int64_t width = 256;  // of vectors and states
  int64_t encoder_layers = 1;
  int64_t decoder_layers = 1;
  float dropout = 0.1f;
  /// Which outputs of the encoder each block of the decoder attends to: last, same_block or mix.
  /// heed/model/decode/wiring.h
  std::string wiring = "last";
  /// Embeddings that share one table: none; decoder: its input and output; all: the source's too (one vocabulary).
  std::string tied = "none";
  /// rnn: between decoder and encoder, any mechanism that takes queries. transformer: in all heads; settings about
  /// positions in one sequence (region, position) apply to self-attention, and settings about a target that moves along
  /// a source (time, local_p, hard_sampled) apply to the attention to the source, which is otherwise global:
  /// model/encode/attention_options.h has the table. What fits nowhere is refused with the reason.
  attend::Options attention = {};
  /// What differs from it at one place or layer: encode/attention_places.h.
  encode::AttentionChanges places = {};
  AlignOptions align = {};
  CopyOptions copying = {};

  // rnn
  std::string cell = "gru";   // gru or lstm
  bool bidirectional = true;  // the encoder
  bool input_feeding = false;

  // transformer
  int64_t hidden = 0;               // of the feed-forward layers; 0: 4 * width
  std::string activation = "relu";  // a name of encode/choices.h
  std::string norm = "post";        // post, as in the paper, or pre
  std::string norm_kind = "layer";  // layer, or rms: root mean square, without a mean and a bias
  float norm_epsilon = 1e-5f;
  bool final_norm = false;       // after the last block also with norm = post
  bool embedding_norm = false;   // of the vectors with their positions
  int64_t embedding_width = 0;   // of the vectors of tokens, before a layer widens them; 0: `width`.  Lan et al. 2020
  int64_t head_width = 0;        // columns of a head of attention; 0: width / heads
  bool scale_embeddings = true;  // times sqrt(width)
  bool bias = true;              // of the projections and the feed-forward layers
  std::string positions =
      "sinusoidal";          // added to vectors: sinusoidal, learned; in self-attention: rotary, alibi; or none
  int64_t max_length = 512;  // learned positions; longest target of a search

  // parallel decoder
  std::string length = "classifier";  // how an output gets its length: a classifier, or slots that are cut at END
  int64_t slots = 64;                 // the slots: most tokens of a target and its END

  encode::OwnOptions own = {};  // of single encoders and decoders, which declare them: heed/model/encode/all.h

  // texts that an encoder reads as a whole: labels, masked tokens, vectors
  bool framed = false;  // between <s> and </s>, which have states of their own.  Devlin et al. 2019

  // labels, vectors
  std::string pool = "attention";   // how the states of a text become one vector: attention, mean, max or first
  std::string pool_layer = "none";  // then a layer with tanh or relu, or none.  Devlin et al. 2019
  bool unit = true;                 // vectors: of length 1
  float sharpness = 20.0f;          // vectors: what their products are multiplied by in training

  // labels
  float penalty = 0.0f;    // structured attention: weight of |A A^T - I|^2 in the loss.  Lin et al. 2017
  bool two_texts = false;  // judged together: the second attends to the first; follows from the data

  // the next token
  std::string look_back = "attention";  // rnn: what its states see of those before them: attention, or none
  int64_t context = 256;  // tokens that are read at once, and the most that a Transformer looks back; masked tokens too

  // masked tokens
  bool transform = true;  // between the states and the output: a layer, its activation and a norm.  Devlin et al. 2019

  // pictures
  bool questions = true;       // a picture comes with a question; follows from the data
  int64_t picture_size = 48;   // a picture is scaled to this many pixels to a side
  int64_t picture_layers = 3;  // convolutions: each halves the side
  int64_t picture_kernel = 3;  // pixels to a side of each convolution; 2: a cell sees its own part of the picture only

  const std::string& encoder_kind() const { return encoder.empty() ? kind : encoder; }
  const std::string& decoder_kind() const { return decoder.empty() ? kind : decoder; }
};

}  // namespace heed::model
