// One row per sequence, from all its rows.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// x [tokens, width], packed -> [sequences, width]: the mean of the rows of each sequence; 0 for an empty one.
Tensor mean_of_sequences(const Packed& x);

/// x [tokens, width], packed -> [sequences, width]: the largest number of each column; 0 for an empty sequence. The
/// gradient goes to the first row that has it.
Tensor max_of_sequences(const Packed& x);

/// x [tokens, width], packed, none empty -> [sequences, width]: the first row of each sequence.
Tensor first_of_sequences(const Packed& x);

}  // namespace heed
