// What a loss asks of the weights of an attention, where these are a matrix with a gradient (AttentionResult::weights):
// [H * rows, keys], head by head; rows of several targets, one after the other.
#pragma once

#include <cstdint>

#include "heed/tensor/tensor.h"

namespace heed {

/// Looking again at what was looked at before costs:   See, Liu and Manning 2017, equation 12
///   sum_t sum_i min(a_ti, sum_{u < t} a_ui)        a: the weights of `head`, or the mean of all (-1)
/// over the rows of each target -> [1, 1]
Tensor coverage_cost(Tensor weights, const Offsets& targets, int64_t head);

/// Of each row, the sum of its weights on the keys columns[offsets[row]] to columns[offsets[row + 1]] -> [H, rows].
/// `offsets` and `columns` must live until the backward.
Tensor weight_on_columns(Tensor weights, int64_t rows, const int64_t* offsets, const int32_t* columns);

}  // namespace heed
