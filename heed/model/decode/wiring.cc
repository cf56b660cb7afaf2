#include "heed/model/decode/wiring.h"

#include <string>

#include "heed/base/error.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/softmax.h"
#include "heed/tensor/tape.h"

namespace heed::decode {

using encode::Wiring;

SourceWiring::SourceWiring(const Scope& scope, Wiring wiring, int64_t blocks, const encode::Encoder& encoder)
    : wiring_(wiring) {
  if (wiring == Wiring::last) return;
  expect(encoder.blocks() > 0, "model: wiring must be last: this encoder has one output, and none for each block");
  expect(wiring != Wiring::same_block || encoder.blocks() == blocks,
         "model: wiring = \"same_block\" needs as many blocks in the encoder as in the decoder, not {} and {}; mix and "
         "last take any",
         encoder.blocks(), blocks);
  if (wiring == Wiring::mix)
    for (int64_t i = 0; i < blocks; ++i)
      mixes_.push_back(&(scope / std::to_string(i)).make("mix", {1, encoder.blocks()}, Initialiser::constant(0.0f)));
}

Packed SourceWiring::memory(size_t number, const encode::Encoded& source) const {
  if (wiring_ == Wiring::last) return source.memory;
  if (wiring_ == Wiring::same_block) return {source.blocks[number], source.memory.offsets};
  Tape& tape = source.memory.rows.tape();
  const Tensor rows = tape.only_result([&] {
    const Tensor weights = softmax_rows(tape.parameter(*mixes_[number]));
    Tensor mixed;
    for (size_t n = 0; n < source.blocks.size(); ++n) {
      const Tensor part = scale(source.blocks[n], columns(weights, static_cast<int64_t>(n), 1));
      mixed = mixed ? add(mixed, part) : part;
    }
    return mixed;
  });
  return {rows, source.memory.offsets};
}

}  // namespace heed::decode
