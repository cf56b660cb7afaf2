// Normalisation of rows.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

Tensor layer_norm(Tensor x, Tensor gain, Tensor bias, float epsilon = 1e-5f);  // gain, bias [1, d]
Tensor rms_norm(Tensor x, Tensor gain, float epsilon = 1e-5f);                 // gain [1, d]
Tensor unit_rows(Tensor x);  // x / |x|; a zero row gives 0, with gradient 0

}  // namespace heed
