// The one matrix product of the loop, per instruction set: C (+)= A B with C and B in rows of whole vectors.
//
// Tiles keep keys down the rows and queries across the lanes. So every product of the loop, forward and backward, reads
// its left operand one broadcast at a time, through two strides, and its right operand and result as contiguous rows:
//   scores^T = K Q^T      A = K rows in place           B = Q^T packed once per query block
//   out     += P V        A = P^T read down a column    B = V rows in place
//   dP^T     = V dO^T     A = V rows in place           B = dO^T packed once per query block
//   dV      += P^T dO     A = P^T rows                  B = dO rows in place
//   dK      += dS^T Q     A = dS^T rows                 B = Q rows in place
//   dQ      += dS K       A = dS^T read down a column   B = K rows in place
#if defined(HEED_KERNELS_SIMD_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SIMD_GEMM_INL_H_
#undef HEED_KERNELS_SIMD_GEMM_INL_H_
#else
#define HEED_KERNELS_SIMD_GEMM_INL_H_
#endif

#include <cstddef>
#include <type_traits>
#include <utility>

#include "heed/kernels/loop/ahead.h"
#include "heed/kernels/simd/vector-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Blocks of C held in registers. With 32 registers: 12 rows of 2 vectors where A is read along its rows, 6 rows of 4
// vectors where A is read down a column (each broadcast then feeds four multiply-adds, and A is walked half as often).
// With 16 registers: 6 rows of 2 vectors for both. The ladder is in docs/kernels.md.
/// An [M, depth] matrix read element by element: a[r * row + p * depth].
struct LeftOperand {
  const float* data;
  size_t row;
  size_t depth;
};

template <int kRows, int kVecs, bool kUnitRow, bool kAccumulate>
HWY_INLINE void MicroKernel(const float* HWY_RESTRICT a, size_t row, size_t step, const float* HWY_RESTRICT b,
                            size_t ldb, float* HWY_RESTRICT c, size_t ldc, size_t depth, Ahead::Steps ahead) {
  const F32 d;
  V32 acc[kRows][kVecs];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) acc[r][v] = hn::Zero(d);

  // Three rows share a base pointer: base, base + row and base + 2 row are addressing modes, not registers. The
  // compiler would rather keep a register per row, and run out of them: the empty assembly hides from it how the bases
  // relate.
  constexpr int kBases = kUnitRow ? 1 : (kRows + 2) / 3;
  const float* base[kBases];
#pragma GCC unroll 4
  for (int i = 0; i < kBases; ++i) {
    base[i] = a + 3 * i * row;
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

#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      float* at = c + r * ldc + v * kLanes;
      if constexpr (kAccumulate)
        hn::StoreU(hn::Add(hn::LoadU(d, at), acc[r][v]), d, at);
      else
        hn::StoreU(acc[r][v], d, at);
    }
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

template <bool kUnitRow, bool kAccumulate, class Heights, class Widths>
HWY_INLINE void GemmBlocks(LeftOperand a, const float* b, size_t ldb, float* c, size_t ldc, size_t m, size_t n,
                           size_t depth, Heights heights, Widths widths) {
  Ahead& ahead = Ahead::of_this_thread();
  const auto block = [&](auto height, size_t i, auto width, size_t vec) HWY_ATTR {
    const size_t j = vec * kLanes;
    // A vector with every step: with half the lanes a step takes half the time.
    constexpr size_t kPace = kLanes * sizeof(float);
    MicroKernel<decltype(height)::value, decltype(width)::value, kUnitRow, kAccumulate>(
        a.data + i * a.row, a.row, a.depth, b + j, ldb, c + i * ldc + j, ldc, depth, ahead.take(depth, kPace, b));
  };
  // Where all of B fits in the first-level cache, A is read once past it; otherwise a panel of B stays while A passes.
  constexpr size_t kFits = 28 * 1024;
  if (depth * n * sizeof(float) <= kFits)
    Cut(m, heights, [&](auto height, size_t i) HWY_ATTR {
      Cut(n / kLanes, widths, [&](auto width, size_t vec) HWY_ATTR { block(height, i, width, vec); });
    });
  else
    Cut(n / kLanes, widths, [&](auto width, size_t vec) HWY_ATTR {
      Cut(m, heights, [&](auto height, size_t i) HWY_ATTR { block(height, i, width, vec); });
    });
}

/// C [m, n] = A [m, depth] B [depth, n], or += with kAccumulate. n is a multiple of kLanes.
template <bool kAccumulate>
void Gemm(LeftOperand a, const float* b, size_t ldb, float* c, size_t ldc, size_t m, size_t n, size_t depth) {
  using Tall =
      std::conditional_t<kManyRegisters, std::integer_sequence<int, 12, 8, 4, 1>, std::integer_sequence<int, 6, 3, 1>>;
  using Narrow = std::integer_sequence<int, 2, 1>;
  if (a.row != 1) return GemmBlocks<false, kAccumulate>(a, b, ldb, c, ldc, m, n, depth, Tall(), Narrow());
  const size_t wide = kManyRegisters ? n / (4 * kLanes) * (4 * kLanes) : 0;
  if constexpr (kManyRegisters)
    GemmBlocks<true, kAccumulate>(a, b, ldb, c, ldc, m, wide, depth, std::integer_sequence<int, 6, 2, 1>(),
                                  std::integer_sequence<int, 4>());
  GemmBlocks<true, kAccumulate>(a, b + wide, ldb, c + wide, ldc, m, n - wide, depth, Tall(), Narrow());
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
