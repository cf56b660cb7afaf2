#include "heed/tensor/gemm.h"

#include <dnnl.h>

#include <algorithm>
#include <atomic>

#include "heed/kernels/one_thread.h"
#include "heed/kernels/signals_later.h"
#include "heed/kernels/threads.h"
#include "heed/tensor/error.h"
#include "heed/tensor/profile.h"

namespace heed {

namespace {

// A tile is one call of the library on one thread. oneDNN is at its full rate from about 64 rows and 128 columns on;
// narrow tiles (64 columns) run at half the rate, and each tile packs its part of B again, so tall ones are better:
// with K = 256 and 768 columns, 192 rows reach 97, 512 rows 109 GFLOP/s.
constexpr int64_t kTileRows = 512;
constexpr int64_t kTileCols = 768;
constexpr int64_t kMinRows = 32;
constexpr int64_t kMinCols = 128;
// Fewer tiles than this are cut further while each has that many multiply-adds: 2^21 are about 30 microseconds, less is
// not worth a thread; four tiles keep two threads even; more tiles are for larger machines and larger products.
constexpr struct { int64_t tiles, work; } kCutFurther[] = {{4, 1 << 21}, {16, 1 << 26}};
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

bool worth_cutting(int64_t tiles, int64_t work) {
  for (const auto& limit : kCutFurther)
    if (tiles < limit.tiles && work > tiles * limit.work) return true;
  return false;
}

/// How a product is cut: by its sizes alone.
struct Tiles {
  int64_t rows, cols;    // of a tile; the last ones may be smaller
  int64_t down, across;  // how many

  explicit Tiles(const Gemm& g) {
    down = (g.m + kTileRows - 1) / kTileRows;
    across = (g.n + kTileCols - 1) / kTileCols;
    while (worth_cutting(down * across, g.m * g.n * g.k)) {
      const bool can_across = g.n >= 2 * kMinCols * across, can_down = g.m >= 2 * kMinRows * down;
      if (!can_across && !can_down) break;
      (can_across && (!can_down || g.n * down >= g.m * across) ? across : down) *= 2;
    }
    const auto even = [](int64_t size, int64_t parts) { return ((size + parts - 1) / parts + 15) / 16 * 16; };
    rows = even(g.m, down);
    cols = even(g.n, across);
    down = (g.m + rows - 1) / rows;
    across = (g.n + cols - 1) / cols;
  }
  int64_t count() const { return down * across; }
};

bool run_tile(const Gemm& g, const Tiles& tiles, int64_t t) {
  const int64_t row = t / tiles.across * tiles.rows, col = t % tiles.across * tiles.cols;
  const int64_t m = std::min(tiles.rows, g.m - row);
  const int64_t n = std::min(tiles.cols, g.n - col);
  return dnnl_sgemm(g.a_transposed ? 'T' : 'N', g.b_transposed ? 'T' : 'N', m, n, g.k, g.alpha,
                    g.a + (g.a_transposed ? row : row * g.a_stride), g.a_stride,
                    g.b + (g.b_transposed ? col * g.b_stride : col), g.b_stride, g.beta, g.c + row * g.c_stride + col,
                    g.c_stride) == dnnl_success;
}

}  // namespace

void gemm(const Gemm& g) {
  if (g.m == 0 || g.n == 0) return;
  const Timed timed(Work::kProduct);
  if (g.m * g.n * g.k <= kSmall) return small(g);
  const Tiles tiles(g);
  std::atomic<bool> good = true;
  const int threads = kernels::most_threads();
  {
    // oneDNN's own way of cutting the work, and with it the last bits, would depend on the number of threads. Helpers
    // work alone anyway; this is for the calling thread.
    const kernels::OneThread one_thread;
    // oneDNN's kernel for AVX-512 uses a buffer from the heap as its stack. A signal's handler would put its
    // frame there, over whatever lies before the buffer, and the program would die of it later and elsewhere.
    const kernels::SignalsLater signals_later;
    kernels::for_each_task(tiles.count(), threads, [&](int64_t t) {
      if (!run_tile(g, tiles, t)) good = false;
    });
  }
  expect(good, "gemm: oneDNN refused a product of [{}, {}] by [{}, {}]", g.m, g.k, g.k, g.n);
}

}  // namespace heed
