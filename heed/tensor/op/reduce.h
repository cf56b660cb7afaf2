// From many numbers to one, or to one per column.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {

Tensor sum(Tensor x);                                 // -> [1, 1]
Tensor mean(Tensor x);                                // -> [1, 1]; 0 for an empty x
Tensor weighted_sum(Tensor x, const float* weights);  // sum_i weights[i] x[i] -> [1, 1]; weights like x, not learned
/// sum_i weights[i] log max(x[i], 1e-6) -> [1, 1]; below that, the slope is that at 1e-6. Weights as above.
Tensor weighted_log_sum(Tensor x, const float* weights);
Tensor sum_squares(Tensor x);  // sum_i x[i]^2 -> [1, 1]

/// [n]: the column of the largest number in each row of x [n, d], the first one in a tie. Has no backward.
std::vector<int32_t> largest_columns(Tensor x);

}  // namespace heed
