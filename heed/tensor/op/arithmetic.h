// Sums and products, element by element.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

Tensor add(Tensor a, Tensor b);                    // a + b, same shape
Tensor subtract(Tensor a, Tensor b);               // a - b
Tensor multiply(Tensor a, Tensor b);               // a * b
Tensor scale(Tensor x, float factor);              // factor * x
Tensor scale(Tensor x, Tensor factor);             // factor [1, 1], learned
Tensor add_row(Tensor x, Tensor row);              // x [n, d] + row [1, d] to every row
Tensor scale_rows(Tensor x, Tensor factor);        // x [n, d], factor [n, 1]: row r times factor[r]
Tensor scale_rows(Tensor x, const float* factor);  // the same with constants (owned by the caller until reset)

}  // namespace heed
