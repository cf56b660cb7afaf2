// Sums over the lanes of several vectors at once, per instruction set.
#if defined(HEED_KERNELS_SIMD_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SIMD_SUM_INL_H_
#undef HEED_KERNELS_SIMD_SUM_INL_H_
#else
#define HEED_KERNELS_SIMD_SUM_INL_H_
#endif

#include "heed/kernels/simd/vector-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

/// Sums of neighbouring lanes: those of a in the lower half, those of b in the upper.
HWY_INLINE V32 AddNeighbours(V32 a, V32 b) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Add(a, b);  // never used: one lane has no neighbour
#else
  const F32 d;
  return hn::Add(hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a));
#endif
}

/// out[i] = the sum of the lanes of v[i]. While neighbours are added two vectors become one, so that many sums cost
/// about one shuffle each. kCount is a power of two.
template <int kCount>
HWY_INLINE void SumLanes(const V32 (&v)[kCount], float* out) {
  const F32 d;
  constexpr int kAtOnce = kCount < static_cast<int>(kLanes) ? kCount : static_cast<int>(kLanes);
  for (int first = 0; first < kCount; first += kAtOnce) {
    V32 sum[kAtOnce];
#pragma GCC unroll 16
    for (int i = 0; i < kAtOnce; ++i) sum[i] = v[first + i];
#pragma GCC unroll 4
    for (int left = kAtOnce; left > 1; left /= 2)
#pragma GCC unroll 8
      for (int i = 0; i < left / 2; ++i) sum[i] = AddNeighbours(sum[2 * i], sum[2 * i + 1]);
#pragma GCC unroll 4
    for (int lanes = static_cast<int>(kLanes) / kAtOnce; lanes > 1; lanes /= 2) sum[0] = AddNeighbours(sum[0], sum[0]);
    float sums[kLanes];
    hn::StoreU(sum[0], d, sums);
    for (int i = 0; i < kAtOnce; ++i) out[first + i] = sums[i];
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
