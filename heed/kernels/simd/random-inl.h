// Counter-based random bits, per instruction set: a function of (seed, b, h, i, j) and nothing else, so that the
// backward draws again what the forward drew, whatever the tiles and threads.
#if defined(HEED_KERNELS_SIMD_RANDOM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SIMD_RANDOM_INL_H_
#undef HEED_KERNELS_SIMD_RANDOM_INL_H_
#else
#define HEED_KERNELS_SIMD_RANDOM_INL_H_
#endif

#include "heed/kernels/simd/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

/// 32 random bits for key `key` of the rows whose own bits are (row0, row1). The mixing is "lowbias32" (Wellons) on a
/// Weyl sequence, keyed before and after.
HWY_INLINE hn::Vec<U32> RandomBits(hn::Vec<U32> row0, hn::Vec<U32> row1, int64_t key) {
  const U32 d;
  auto x = hn::Add(row0, hn::Set(d, static_cast<uint32_t>(key) * 0x9E3779B9u));
  x = hn::Xor(x, hn::ShiftRight<16>(x));
  x = hn::Mul(x, hn::Set(d, 0x21F0AAADu));
  x = hn::Xor(hn::Xor(x, hn::ShiftRight<15>(x)), row1);
  x = hn::Mul(x, hn::Set(d, 0xD35A2D97u));
  return hn::Xor(x, hn::ShiftRight<15>(x));
}

/// Uniform in (0, 1), never either end.
HWY_INLINE V32 Uniform(hn::Vec<U32> bits) {
  const F32 d;
  const I32 di;
  const V32 whole = hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<8>(bits)));
  return hn::Mul(hn::Add(whole, hn::Set(d, 0.5f)), hn::Set(d, 5.9604644775390625e-8f));
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
