// Sums of v / t over the dimensions of additive attention, several to a division, per instruction set: the forward of
// score/tanh_sum.cc, which says what t is.
#if defined(HEED_KERNELS_SCORE_TANH_FRACTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SCORE_TANH_FRACTIONS_INL_H_
#undef HEED_KERNELS_SCORE_TANH_FRACTIONS_INL_H_
#else
#define HEED_KERNELS_SCORE_TANH_FRACTIONS_INL_H_
#endif

#include <cstddef>

#include "heed/kernels/simd/vector-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

/// v / t of some dimensions together.
struct Fraction {
  V32 over, under;
};
HWY_INLINE Fraction AddFractions(const Fraction& a, const Fraction& b) {
  return {hn::MulAdd(a.over, b.under, hn::Mul(b.over, a.under)), hn::Mul(a.under, b.under)};
}

/// t = 1 + q k with v, or s = t / v = 1 / v + (q / v) k with 1 / v.
struct TanhFactors {
  const float* q;  // [D, q_stride]
  size_t q_stride;
  const float* v;  // [D]
  const float* k;  // [keys, k_stride]
  size_t k_stride;
};

/// Adds the fractions of kKeys keys, kDims dimensions from x on together, to sum [kKeys]. Two dimensions at a time for
/// all of the keys: what they share stays in registers, also where there are 16.
template <int kKeys, int kDims, bool kDividedByV>
HWY_INLINE void AddTanhFractions(const TanhFactors& at, size_t x, V32* sum) {
  const F32 d;
  Fraction f[kKeys];
  constexpr int kStep = kDims < 2 ? 1 : 2;
#pragma GCC unroll 4
  for (int n = 0; n < kDims; n += kStep) {
    V32 q[kStep], v[kStep];
#pragma GCC unroll 2
    for (int m = 0; m < kStep; ++m) {
      q[m] = hn::LoadU(d, at.q + (x + n + m) * at.q_stride);
      v[m] = hn::Set(d, at.v[x + n + m]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < kKeys; ++i) {
      Fraction one[kStep];
#pragma GCC unroll 2
      for (int m = 0; m < kStep; ++m) {
        const V32 of_k = hn::Set(d, at.k[i * at.k_stride + x + n + m]);
        one[m] = {v[m], hn::MulAdd(q[m], of_k, kDividedByV ? v[m] : hn::Set(d, 1.0f))};
      }
      Fraction both = one[0];
      if constexpr (kStep == 2 && kDividedByV)
        both = {hn::Add(one[0].under, one[1].under), hn::Mul(one[0].under, one[1].under)};
      else if constexpr (kStep == 2)
        both = AddFractions(one[0], one[1]);
      f[i] = n == 0 ? both : AddFractions(f[i], both);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kKeys; ++i) sum[i] = hn::Add(hn::Div(f[i].over, f[i].under), sum[i]);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
