// The one seam to the BLAS: every matrix product of the benchmark goes through here.
//
// oneDNN's dnnl_sgemm was chosen by `heed-bench --blas`, which prints it beside OpenBLAS and BLIS where these are
// installed. Its call is the same in versions 2 and 3.
#pragma once

#include <dnnl.h>

#include <cstdint>

namespace heed::bench {

/// c [m, n] = scale * a [m, k] * b [k, n], all row-major and without gaps. A side that is `transposed` stands as [k, m]
/// or [n, k].
struct Sgemm {
  int64_t m, n, k;
  const float* a;
  const float* b;
  float* c;
  bool a_transposed = false, b_transposed = false;
  float scale = 1.0f;
};

/// Uses as many threads as OpenMP gives, one where the caller is already inside a parallel region.
inline bool sgemm(const Sgemm& p) {
  return dnnl_sgemm(p.a_transposed ? 'T' : 'N', p.b_transposed ? 'T' : 'N', p.m, p.n, p.k, p.scale, p.a,
                    p.a_transposed ? p.m : p.k, p.b, p.b_transposed ? p.k : p.n, 0.0f, p.c, p.n) == dnnl_success;
}

}  // namespace heed::bench
