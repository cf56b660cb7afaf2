// vectors -> memory: what a decoder attends to.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heed/attend/options.h"
#include "heed/layer/norm.h"
#include "heed/layer/parameters.h"
#include "heed/layer/recurrent.h"
#include "heed/model/encode/own_options.h"
#include "heed/tensor/tensor.h"

namespace heed::encode {

/// The output of an encoder.
struct Encoded {
  Packed memory;                       // [source tokens, width]
  RecurrentStates states = {};         // recurrent encoders: where each sequence ended, for the decoder to start from
  const int32_t* sentences = nullptr;  // [source tokens] the sentence of each, rising in a source; null: they are one
  std::vector<Tensor> blocks = {};     // [Encoder::blocks()] what each block gave, like memory.rows, which is the last
};

/// Threads: many may use it at once, each with its own tape.
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual Encoded run(const Packed& x) const = 0;  // rows [tokens, input]
  virtual int64_t width() const = 0;               // of the memory
  /// Blocks (of a Transformer) or layers whose outputs run() hands over: all if StackOptions::wiring asks for them, or
  /// 0.
  virtual int64_t blocks() const { return 0; }
};

/// Which outputs of an encoder the blocks of a decoder attend to: heed/model/decode/wiring.h has the meanings.
enum class Wiring { last, same_block, mix };

/// A stack of layers, of an encoder or of a decoder. One struct for all kinds: each uses the fields it knows.
struct StackOptions {
  int64_t width = 0;  // of the input vectors and of states
  int64_t layers = 6;
  int64_t hidden = 0;               // of the feed-forward layers; 0: 4 * width
  std::string activation = "relu";  // a name of encode/choices.h
  bool pre_norm = false;            // norm before each sublayer instead of after its residual.  Xiong et al. 2020
  bool final_norm = false;          // a norm after the last block without pre_norm, too
  NormOptions norm = {};
  int64_t head_width = 0;          // of each head of attention; 0: width / heads
  bool bias = true;                // of the projections and the feed-forward layers
  float dropout = 0.0f;            // on what each part adds
  attend::Options attention = {};  // heads, score, region ...: attention_options.h says which attention uses what

  Wiring wiring = Wiring::last;  // of the attention to the source

  OwnOptions own = {};  // of single kinds

  // recurrent
  RecurrentOptions::Kind cell = RecurrentOptions::Kind::gru;
  bool bidirectional = true;  // an encoder
  bool input_feeding =
      false;  // a decoder: the last attentional vector is fed in with the next token.  Luong et al. 2015

  bool has_final_norm() const { return pre_norm || final_norm; }
  bool hands_over_blocks() const { return wiring != Wiring::last; }

  RecurrentOptions recurrent(bool both_ways) const {
    return {.kind = cell,
            .input = width,
            .hidden = width,
            .layers = layers,
            .bidirectional = both_ways,
            .dropout = dropout};
  }
};

/// A bidirectional (or not) GRU or LSTM of some layers, which hands over the outputs of all or of the last.
std::unique_ptr<Encoder> recurrent(const Scope& scope, const RecurrentOptions& options, bool hands_over_blocks = false);

/// Block: self-attention, residual, norm; feed-forward, residual, norm.   Vaswani et al. 2017
std::unique_ptr<Encoder> transformer(const Scope& scope, const StackOptions& options);

}  // namespace heed::encode
