#include "heed/tensor/gemm.h"

#include <dnnl.h>

#include <algorithm>

#include "heed/tensor/error.h"

namespace heed {

namespace {

// A tile is one call of the library on one thread. Large enough that packing does not show (oneDNN runs 256 x 256 at
// its full rate), small enough that two threads always find work.
constexpr int64_t kTileRows = 256;
constexpr int64_t kTileCols = 512;
constexpr int64_t kSmall = 1 << 12;  // multiply-adds below which a call costs more than it computes

void small(const Gemm& g) {
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = 0; j < g.n; ++j) {
      float sum = 0.0f;
      for (int64_t l = 0; l < g.k; ++l)
        sum += (g.a_transposed ? g.a[l * g.a_stride + i] : g.a[i * g.a_stride + l]) *
               (g.b_transposed ? g.b[j * g.b_stride + l] : g.b[l * g.b_stride + j]);
      float& c = g.c[i * g.c_stride + j];
      c = g.alpha * sum + (g.beta == 0.0f ? 0.0f : g.beta * c);
    }
}

dnnl_status_t tile(const Gemm& g, int64_t row, int64_t col) {
  const int64_t m = std::min(kTileRows, g.m - row);
  const int64_t n = std::min(kTileCols, g.n - col);
  return dnnl_sgemm(g.a_transposed ? 'T' : 'N', g.b_transposed ? 'T' : 'N', m, n, g.k, g.alpha,
                    g.a + (g.a_transposed ? row : row * g.a_stride), g.a_stride,
                    g.b + (g.b_transposed ? col * g.b_stride : col), g.b_stride, g.beta, g.c + row * g.c_stride + col,
                    g.c_stride);
}

}  // namespace

void gemm(const Gemm& g) {
  if (g.m == 0 || g.n == 0) return;
  if (g.m * g.n * g.k <= kSmall) return small(g);
  const int64_t down = (g.m + kTileRows - 1) / kTileRows;
  const int64_t across = (g.n + kTileCols - 1) / kTileCols;
  int failed = 0;
  // Also a single tile runs inside a parallel region: there the library takes one thread, so that its way of cutting
  // the work, and with it the last bits, never depend on how many there are.
#pragma omp parallel for schedule(dynamic) reduction(+ : failed)
  for (int64_t t = 0; t < down * across; ++t)
    failed += tile(g, t / across * kTileRows, t % across * kTileCols) != dnnl_success;
  expect(failed == 0, "gemm: oneDNN refused a product of [{}, {}] by [{}, {}]", g.m, g.k, g.k, g.n);
}

}  // namespace heed
