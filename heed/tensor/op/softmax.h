#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

Tensor softmax_rows(Tensor x);  // each row of [n, d] by itself; a row of -inf gives 0

}  // namespace heed
