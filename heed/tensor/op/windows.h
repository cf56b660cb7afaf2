// Each row with its neighbours: a linear layer on top is a convolution along the sequence.
#pragma once

#include <cstdint>

#include "heed/tensor/tensor.h"

namespace heed {

/// x [tokens, d], packed -> [tokens, width * d]: row i holds the rows i - width / 2 to i - width / 2 + width - 1 of its
/// sequence side by side; 0 where the sequence has none.
Tensor windows(const Packed& x, int64_t width);

}  // namespace heed
