#pragma once

#include <cstdint>
#include <span>

#include "heed/tensor/tensor.h"

namespace heed {

/// -log softmax(logits)[target], summed over the rows -> [1, 1]. logits [n, classes]; targets [n], -1: the row does not
/// count. With label smoothing s the target distribution is (1 - s) on the target and s / classes on every class.
Tensor cross_entropy(Tensor logits, std::span<const int32_t> targets, float label_smoothing = 0.0f);

}  // namespace heed
