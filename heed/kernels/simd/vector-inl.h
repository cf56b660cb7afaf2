// The vector of the current instruction set.
#if defined(HEED_KERNELS_SIMD_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SIMD_VECTOR_INL_H_
#undef HEED_KERNELS_SIMD_VECTOR_INL_H_
#else
#define HEED_KERNELS_SIMD_VECTOR_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F32>;
using U32 = hn::RebindToUnsigned<F32>;
using V32 = hn::Vec<F32>;

inline constexpr size_t kLanes = hn::MaxLanes(F32());
/// 32 vector registers instead of 16.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
inline constexpr bool kManyRegisters = false;
#else
inline constexpr bool kManyRegisters = true;
#endif
inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// max(low, x), but NaN where x is NaN: which of two operands a maximum with NaN gives differs between instruction
/// sets.
HWY_INLINE V32 AtLeast(V32 low, V32 x) {
#if HWY_TARGET == HWY_SCALAR
  return hn::IfThenElse(hn::Lt(x, low), low, x);
#else
  return hn::Max(low, x);
#endif
}

/// min(high, x), but NaN where x is NaN.
HWY_INLINE V32 AtMost(V32 high, V32 x) {
#if HWY_TARGET == HWY_SCALAR
  return hn::IfThenElse(hn::Gt(x, high), high, x);
#else
  return hn::Min(high, x);
#endif
}

/// The first `count` < kLanes floats at `at`, and zeros. Nothing beyond them is read.
HWY_INLINE V32 LoadPart(const float* at, size_t count) {
  const F32 d;
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, count), d, at);
#else
  float part[kLanes] = {};
  for (size_t i = 0; i < count; ++i) part[i] = at[i];
  return hn::LoadU(d, part);
#endif
}

HWY_INLINE constexpr size_t PadToLanes(size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
