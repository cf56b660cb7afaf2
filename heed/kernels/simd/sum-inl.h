// Sums over the lanes of several vectors at once, per instruction set.
#if defined(HEED_KERNELS_SIMD_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SIMD_SUM_INL_H_
#undef HEED_KERNELS_SIMD_SUM_INL_H_
#else
#define HEED_KERNELS_SIMD_SUM_INL_H_
#endif

#include <cstring>

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

/// One vector with the sums of the lanes of kCount vectors, repeated where they are fewer than the lanes. Recursive, so
/// that the compiler unrolls all of it: as loops it kept a level's number in a register and did half of the work twice.
template <int kCount>
HWY_INLINE V32 SumTree(const V32* v) {
#if HWY_TARGET == HWY_AVX2
  // Inside blocks of 128 bits first: crossing them costs two more shuffles each time.
  const F32 d;
  const hn::Repartition<double, F32> d2;
  const auto four = [=](V32 a, V32 b, V32 c, V32 e) HWY_ATTR {
    const auto ab = hn::BitCast(d2, hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
    const auto ce = hn::BitCast(d2, hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e)));
    return hn::Add(hn::BitCast(d, hn::InterleaveLower(d2, ab, ce)), hn::BitCast(d, hn::InterleaveUpper(d2, ab, ce)));
  };
  const V32 low = four(v[0], v[1 % kCount], v[2 % kCount], v[3 % kCount]);
  const V32 high = kCount == 8 ? four(v[4 % kCount], v[5 % kCount], v[6 % kCount], v[7 % kCount]) : low;
  return hn::Add(hn::ConcatLowerLower(d, high, low), hn::ConcatUpperUpper(d, high, low));
#else
  V32 sum = v[0];
  if constexpr (kCount > 1) {
    sum = AddNeighbours(SumTree<kCount / 2>(v), SumTree<kCount / 2>(v + kCount / 2));
  }
  return sum;
#endif
}

/// out[i] = the sum of the lanes of v[i]. While neighbours are added two vectors become one, so that many sums cost
/// about one shuffle each. kCount is a power of two. The order of a sum is the same for every kCount.
template <int kCount>
HWY_INLINE void SumLanes(const V32 (&v)[kCount], float* out) {
  const F32 d;
  constexpr int kAtOnce = kCount < static_cast<int>(kLanes) ? kCount : static_cast<int>(kLanes);
#pragma GCC unroll 16
  for (int first = 0; first < kCount; first += kAtOnce) {
    V32 sum = SumTree<kAtOnce>(v + first);
#if HWY_TARGET != HWY_AVX2
#pragma GCC unroll 4
    for (int lanes = static_cast<int>(kLanes) / kAtOnce; lanes > 1; lanes /= 2) sum = AddNeighbours(sum, sum);
#endif
    if constexpr (kAtOnce == static_cast<int>(kLanes)) {
      hn::StoreU(sum, d, out + first);
    } else {
      float sums[kLanes];
      hn::StoreU(sum, d, sums);
      std::memcpy(out + first, sums, kAtOnce * sizeof(float));
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
