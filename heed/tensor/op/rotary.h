#pragma once

#include <cstdint>

#include "heed/tensor/tensor.h"

namespace heed {

/// Rotary positions, Su et al. 2021: each pair of neighbouring columns of a head is turned by position * theta_i, so
/// that the product of two rows depends on how far apart they stand.  theta_i = 10000^(-2i / width), i the number of
/// the pair and width the columns of a head.  x [n, heads * width]; positions [n], from 0 on, needed until the
/// backward: keep them on the tape. Where the width is odd, the last column of a head stays as it is and does not
/// count.
Tensor rotate(Tensor x, const int64_t* positions, int64_t heads = 1);

}  // namespace heed
