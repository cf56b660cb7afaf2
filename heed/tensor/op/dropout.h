#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// Zeroes each element with probability p and divides the others by 1 - p. Only on a tape with training on; otherwise
/// returns x itself. The mask is drawn again in the backward, not stored.
Tensor dropout(Tensor x, float p);

}  // namespace heed
