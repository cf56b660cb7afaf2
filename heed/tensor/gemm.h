// The one seam to oneDNN's matrix product. Everything above the kernels that multiplies matrices comes through here,
// but for the forwards of inference (forward_product.h).
#pragma once

#include <cstdint>

namespace heed {

/// C = alpha * op(A) op(B) + beta * C, row-major.  op(A) is [m, k], op(B) is [k, n], C is [m, n].
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  int64_t a_stride = 0;  // elements between rows as they stand in memory
  int64_t b_stride = 0;
  int64_t c_stride = 0;
  bool a_transposed = false;  // A is stored [k, m]
  bool b_transposed = false;  // B is stored [n, k]
  float alpha = 1.0f;
  float beta = 0.0f;
};

/// The same bits for any number of threads: the product is cut into tiles by its sizes alone.
void gemm(const Gemm& g);

}  // namespace heed
