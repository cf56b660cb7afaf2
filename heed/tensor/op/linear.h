// Matrix products.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

Tensor linear(Tensor x, Tensor weight, Tensor bias = {});  // x [n, in], weight [out, in], bias [1, out] -> [n, out]
Tensor matmul(Tensor a, Tensor b);                         // a [n, k], b [k, m] -> [n, m]

}  // namespace heed
