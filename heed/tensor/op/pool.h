// One row per sequence, from all its rows.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// x [tokens, width], packed -> [sequences, width]: the mean of the rows of each sequence; 0 for an empty one.
Tensor mean_of_sequences(const Packed& x);

}  // namespace heed
