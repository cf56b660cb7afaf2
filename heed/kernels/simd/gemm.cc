// The product of the loop: blocks of the result that stay in registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/simd/gemm.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <type_traits>
#include <utility>

#include "heed/kernels/loop/prefetch_queue.h"
#include "heed/kernels/simd/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Blocks of C held in registers. With 32 registers: 12 rows of 2 vectors where A is read along its rows, 6 rows of 4
// vectors where A is read down a column (each broadcast then feeds four multiply-adds, and A is walked half as often).
// With 16 registers: 6 rows of 2 vectors for both. The ladder is in docs/kernels.md.
/// What a block reads and writes.
struct Operands {
  const float* a;
  size_t row, step;  // of a: from row to row, from term to term
  const float* b;
  size_t ldb;
  float* c;
  size_t ldc;
  size_t depth;
  bool add;
};

// With 16 registers a separate function: inlined, the loops around it take some of them, and it is 8 % slower. With 32
// the call costs 4 %.
#undef HEED_BLOCK
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
#define HEED_BLOCK HWY_NOINLINE
#else
#define HEED_BLOCK HWY_INLINE
#endif
template <int kRows, int kVecs, bool kUnitRow>
HEED_BLOCK void MicroKernel(const Operands& o, PrefetchQueue::Steps ahead) {
  const float* HWY_RESTRICT b = o.b;
  float* HWY_RESTRICT c = o.c;
  const size_t row = o.row, step = o.step, ldb = o.ldb, ldc = o.ldc, depth = o.depth;
  const F32 d;
  V32 acc[kRows][kVecs];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) acc[r][v] = hn::Zero(d);

  // Three rows share a base pointer: base, base + row and base + 2 row are addressing modes, not registers. The
  // compiler would otherwise keep a register per row, and run out of them: the empty assembly hides how the bases are
  // related.
  constexpr int kBases = kUnitRow ? 1 : (kRows + 2) / 3;
  const float* base[kBases];
#pragma GCC unroll 4
  for (int i = 0; i < kBases; ++i) {
    base[i] = o.a + 3 * i * row;
    asm("" : "+r"(base[i]));
  }
  for (size_t p = 0; p < depth; ++p) {
    __builtin_prefetch(ahead.at, 0, 2);
    ahead.at += ahead.step;
    V32 right[kVecs];
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) right[v] = hn::LoadU(d, b + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const V32 left = hn::Set(d, kUnitRow ? base[0][r] : base[r / 3][(r % 3) * row]);
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) acc[r][v] = hn::MulAdd(left, right[v], acc[r][v]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < kBases; ++i) base[i] += step;
    b += ldb;
  }

  if (o.add) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) acc[r][v] = hn::Add(hn::LoadU(d, c + r * ldc + v * kLanes), acc[r][v]);
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) hn::StoreU(acc[r][v], d, c + r * ldc + v * kLanes);
}

/// Cuts [0, count) into pieces of the first size, then of the next for what is left, ...: f(integral_constant size,
/// start).
template <int... kSizes, class F>
HWY_INLINE void Cut(size_t count, std::integer_sequence<int, kSizes...>, F&& f) {
  size_t at = 0;
  const auto pieces = [&](auto size) HWY_ATTR {
    constexpr int kSize = decltype(size)::value;
    // 12 12 8 rather than 12 12 4 4: short blocks do not hide the latency of the multiply-add.
    while (count - at >= kSize && !(kSize == 12 && count - at == 16)) {
      f(size, at);
      at += kSize;
    }
  };
  (pieces(std::integral_constant<int, kSizes>()), ...);
}

template <bool kUnitRow, class Heights, class Widths>
HWY_INLINE void MultiplyBlocks(Operands all, size_t m, size_t n, Heights heights, Widths widths) {
  PrefetchQueue& ahead = PrefetchQueue::of_this_thread();
  const auto block = [&](auto height, size_t i, auto width, size_t vec) HWY_ATTR {
    const size_t j = vec * kLanes;
    Operands o = all;
    o.a += i * o.row;
    o.b += j;
    o.c += i * o.ldc + j;
    // A vector with every step: with half the lanes a step takes half the time.
    constexpr size_t kPace = kLanes * sizeof(float);
    MicroKernel<decltype(height)::value, decltype(width)::value, kUnitRow>(o, ahead.take(o.depth, kPace, o.b));
  };
  // If all of B fits in the L1 cache, A is streamed past it once; otherwise a panel of B stays while A passes.
  constexpr size_t kFits = 28 * 1024;
  if (all.depth * n * sizeof(float) <= kFits)
    Cut(m, heights, [&](auto height, size_t i) HWY_ATTR {
      Cut(n / kLanes, widths, [&](auto width, size_t vec) HWY_ATTR { block(height, i, width, vec); });
    });
  else
    Cut(n / kLanes, widths, [&](auto width, size_t vec) HWY_ATTR {
      Cut(m, heights, [&](auto height, size_t i) HWY_ATTR { block(height, i, width, vec); });
    });
}

void Multiply(bool add, LeftOperand a, ProductRows<const float> b, ProductRows<float> c, ProductSize size) {
  using Tall =
      std::conditional_t<kManyRegisters, std::integer_sequence<int, 12, 8, 4, 1>, std::integer_sequence<int, 6, 3, 1>>;
  using Narrow = std::integer_sequence<int, 2, 1>;
  const size_t m = size.rows, n = size.cols;
  Operands all{a.data, a.row, a.depth, b.data, b.stride, c.data, c.stride, size.depth, add};
  if (a.row != 1) return MultiplyBlocks<false>(all, m, n, Tall(), Narrow());
  const size_t wide = kManyRegisters ? n / (4 * kLanes) * (4 * kLanes) : 0;
  if constexpr (kManyRegisters)
    MultiplyBlocks<true>(all, m, wide, std::integer_sequence<int, 6, 2, 1>(), std::integer_sequence<int, 4>());
  all.b += wide;
  all.c += wide;
  MultiplyBlocks<true>(all, m, n - wide, Tall(), Narrow());
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
