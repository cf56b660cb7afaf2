// The probabilities of a step of a model that copies, for a search: of the vocabulary's tokens, and of the words that
// only the source has.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "heed/tensor/tensor.h"

namespace heed {

/// Of one row: what each token of its source is as a token of the target (-1: none), and the weight on it.
struct CopyWeights {
  std::span<const int32_t> tokens;
  std::span<const float> weights;  // as many, or more
};

/// The columns for V tokens of the vocabulary and so many words beside it: rounded up, so that sums over a row are
/// made in the same order whatever other sources are in the batch.
int64_t copy_columns(int64_t vocabulary, int64_t extra);

/// logits [n, V], gate [n, 1] -> log p [n, columns], without a backward; -infinity for what cannot be written. p as in
/// copy_mixture.h.
Tensor copy_distribution(Tensor logits, Tensor gate, int64_t columns,
                         const std::function<CopyWeights(int64_t row)>& of_row);

}  // namespace heed
