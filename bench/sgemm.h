// The one seam to the BLAS: every matrix product of the benchmark goes through here.
//
// oneDNN's dnnl_sgemm was chosen by `heed-bench --blas`, which prints it beside OpenBLAS and BLIS where these are
// installed. Its call is the same in versions 2 and 3.
#pragma once

#include <dnnl.h>

#include <cstdint>

namespace heed::bench {

/// c = alpha * op(a) * op(b) + beta * c, all row-major; op(a) is [m, k], op(b) is [k, n], c is [m, n]. 'N' or 'T'.
/// Uses as many threads as OpenMP gives, one where the caller is already inside a parallel region.
inline bool sgemm(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
                  const float* b, int64_t ldb, float beta, float* c, int64_t ldc) {
  return dnnl_sgemm(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) == dnnl_success;
}

}  // namespace heed::bench
