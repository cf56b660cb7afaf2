#include "heed/model/generator.h"

#include <algorithm>
#include <vector>

namespace heed::model {

void each_logits_by_steps(const Generator& generator, Tape& tape, const data::Sources& sources, const PackedIds& inputs,
                          const std::function<void(int64_t first, Tensor logits)>& visit) {
  const int64_t count = std::ssize(inputs.offsets) - 1;
  const auto at = [&](int64_t b) { return inputs.offsets[static_cast<size_t>(b)]; };
  int64_t longest = 0;
  for (int64_t b = 0; b < count; ++b) longest = std::max(longest, at(b + 1) - at(b));
  tape.reset();
  const std::unique_ptr<decode::State> state = generator.start(tape, sources, longest);
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int64_t t = 0; t < longest; ++t) {
    for (int64_t b = 0; b < count; ++b)  // an ended one repeats its last token, unused
      tokens[static_cast<size_t>(b)] = inputs.ids[static_cast<size_t>(std::min(at(b) + t, at(b + 1) - 1))];
    tape.reset();  // the state is outside it
    const Tensor logits = generator.step(tokens, *state, tape);
    for (int64_t b = 0; b < count; ++b)
      if (t < at(b + 1) - at(b)) visit(at(b) + t, tape.input(logits.row(b), 1, logits.cols()));
  }
}

}  // namespace heed::model
