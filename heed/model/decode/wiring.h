// Which outputs of the encoder each block of a decoder attends to.
//
//   last        every block: the last output                                                     Vaswani et al. 2017
//   same_block  block i: the output of block i of the encoder, which has as many blocks
//   mix         block i: sum_n softmax(w_i)_n * the output of block n, with w_i learned           Bapna et al. 2018
//
// Transparent attention (Bapna et al.) also mixes in the embeddings; here the blocks alone are mixed. A Transformer
// with pre_norm hands over every output normed, all by the norm at its end; a recurrent encoder with dropout.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/attend/mechanism.h"
#include "heed/layer/parameters.h"
#include "heed/model/encode/encoder.h"

namespace heed::decode {

class SourceWiring {
 public:
  SourceWiring() = default;
  /// For a decoder that attends to the source in `blocks` places. Throws if the encoder does not fit.
  /// Parameters of a mix: "0.mix", "1.mix" ... [1, blocks of the encoder], zeros: a plain mean at first.
  SourceWiring(const Scope& scope, encode::Wiring wiring, int64_t blocks, const encode::Encoder& encoder);

  /// What block `number` attends to: [source tokens, width of the memory].
  Packed memory(size_t number, const encode::Encoded& source) const;
  /// The same with the sentences of the source, for a mechanism that weighs them.
  attend::Memory memory_for(const attend::Mechanism& mechanism, size_t number, const encode::Encoded& source) const {
    return {.rows = memory(number, source),
            .documents = mechanism.traits().weighs_sentences ? source.sentences : nullptr};
  }

 private:
  encode::Wiring wiring_ = encode::Wiring::last;
  std::vector<Parameter*> mixes_;  // w_i
};

}  // namespace heed::decode
