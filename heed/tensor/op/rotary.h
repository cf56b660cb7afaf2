#pragma once

#include <cstdint>

#include "heed/tensor/tensor.h"

namespace heed {

struct RotaryOptions {
  int64_t heads = 1;
  double base = 10000.0;
  bool halves = false;  // pairs of a column of the first half and one of the second, not of neighbours
};

/// Rotary positions, Su et al. 2021: each pair of columns of a head is rotated by position * theta_i, so that the
/// product of two rows depends on their distance. theta_i = base^(-2i / width), where i is the index of the pair and
/// width the number of columns of a head. x [n, heads * width]; positions [n], 0 or more, needed until the backward:
/// keep them on the tape. If the width is odd, the last column of a head is left unchanged and does not count.
Tensor rotate(Tensor x, const int64_t* positions, const RotaryOptions& options = {});

}  // namespace heed
