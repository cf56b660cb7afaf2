#include "heed/layer/embedding.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/linear.h"

namespace heed {

Embedding::Embedding(const Scope& scope, const EmbeddingOptions& options) {
  expect(options.vocabulary > 0 && options.width > 0,
         "embedding '{}': vocabulary and width must be positive, not {} and {}", scope.prefix(), options.vocabulary,
         options.width);
  const float root = std::sqrt(static_cast<float>(options.width));
  const float deviation = options.deviation > 0.0f ? options.deviation : 1.0f / root;
  weight = &scope.make_weight("weight", {options.vocabulary, options.width}, Initialiser::normal(deviation));
  if (options.scaled) factor = root;
}

Tensor Embedding::operator()(Tape& tape, std::span<const int32_t> ids) const {
  int64_t* rows = tape.keep<int64_t>(static_cast<int64_t>(ids.size()));
  for (size_t i = 0; i < ids.size(); ++i) {
    expect(ids[i] >= 0 && ids[i] < weight->rows(), "embedding '{}': ids[{}] is {}, the vocabulary has {} entries",
           weight->name, i, ids[i], weight->rows());
    rows[i] = ids[i];
  }
  const Tensor found = gather_rows(tape.parameter(*weight), {rows, ids.size()});
  tape.arena().give(rows);  // the operation has its own copy
  return factor == 1.0f ? found : scale(found, factor);
}

Packed Embedding::packed(Tape& tape, std::span<const std::vector<int32_t>> sequences) const {
  std::vector<int32_t> ids;
  std::vector<int64_t> offsets = {0};
  for (const std::vector<int32_t>& sequence : sequences) {
    ids.insert(ids.end(), sequence.begin(), sequence.end());
    offsets.push_back(std::ssize(ids));
  }
  return {(*this)(tape, ids), tape.offsets(offsets)};
}

Tensor Embedding::logits(Tensor x) const { return linear(x, x.tape().parameter(*weight)); }

}  // namespace heed
