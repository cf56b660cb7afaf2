// Inner products of a few queries with keys in place, per instruction set: the lanes run along D.
#if defined(HEED_KERNELS_SIMD_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SIMD_DOTS_INL_H_
#undef HEED_KERNELS_SIMD_DOTS_INL_H_
#else
#define HEED_KERNELS_SIMD_DOTS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "heed/kernels/simd/sum-inl.h"
#include "heed/kernels/simd/vector-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

inline constexpr size_t kLineFloats = 16;  // of a cache line

/// Loads a vector that several multiply-adds use only once. GCC would otherwise read it from memory in each of them,
/// and wait for the loads.
HWY_INLINE void KeepLoaded(V32& v) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
  asm("" : "+v"(v.raw));
#else
  (void)v;
#endif
}

/// Rows to prefetch while as many others are read: row k is at data + k * row. No data: none.
struct Fetch {
  const float* data = nullptr;
  int64_t row = 0;
  bool far = false;  // into the L2 cache
};

/// Prefetches the cache line of `at`. Which level is best depends on the CPU's vendor (docs/kernels.md).
HWY_INLINE void FetchLine(const float* at, bool far) {
  if (far)
    __builtin_prefetch(at, 0, 2);
  else
    __builtin_prefetch(at, 0, 3);
}

/// Row r is at data + r * row.
struct DotRows {
  const float* data;
  int64_t row;
};

/// out[r * kKeys + k] = <q[r], keys[k]> for kRows packed queries (padded with zeros to whole vectors) and kKeys keys.
/// The sum of a pair has the same order for every kRows and kKeys. Meanwhile kFetch rows are prefetched, one line with
/// each line of the keys: requests faster than the memory would stall.
template <int kRows, int kKeys, int kFetch>
HWY_INLINE void Dots(DotRows queries, DotRows key_rows, size_t dim, Fetch fetch, float* HWY_RESTRICT out) {
  const F32 d;
  const float* HWY_RESTRICT q = queries.data;
  const float* HWY_RESTRICT keys = key_rows.data;
  const int64_t q_row = queries.row, key_row = key_rows.row;
  V32 sum[kRows * kKeys];
#pragma GCC unroll 16
  for (int i = 0; i < kRows * kKeys; ++i) sum[i] = hn::Zero(d);
  const auto add = [&](size_t c, auto load) HWY_ATTR {
    V32 x[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) x[r] = hn::LoadU(d, q + r * q_row + c);
#pragma GCC unroll 8
    for (int k = 0; k < kKeys; ++k) {
      V32 key = load(keys + k * key_row + c);
      if constexpr (kRows > 1) KeepLoaded(key);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) sum[r * kKeys + k] = hn::MulAdd(x[r], key, sum[r * kKeys + k]);
    }
  };
  const auto whole = [](const float* at) HWY_ATTR { return hn::LoadU(F32(), at); };
  size_t c = 0;
  for (; c + kLineFloats <= dim; c += kLineFloats) {
#pragma GCC unroll 8
    for (int k = 0; k < kFetch; ++k) FetchLine(fetch.data + k * fetch.row + c, fetch.far);
#pragma GCC unroll 16
    for (size_t v = 0; v < kLineFloats; v += kLanes) add(c + v, whole);
  }
  for (; c + kLanes <= dim; c += kLanes) add(c, whole);
  if (c < dim) {
    const size_t left = dim - c;
    add(c, [left](const float* at) HWY_ATTR { return LoadPart(at, left); });
  }
  SumLanes(sum, out);
}

/// As Dots of one query, with the same bits, but one key at a time: so memory is read in order, which is faster on some
/// CPUs.
template <int kKeys, int kFetch>
HWY_INLINE void DotsInOrder(const float* HWY_RESTRICT q, DotRows keys, size_t dim, Fetch fetch,
                            float* HWY_RESTRICT out) {
  const F32 d;
  V32 sum[kKeys];
#pragma GCC unroll 8
  for (int k = 0; k < kKeys; ++k) {
    const float* HWY_RESTRICT at = keys.data + k * keys.row;
    V32 s = hn::Zero(d);
    size_t c = 0;
    for (; c + kLineFloats <= dim; c += kLineFloats) {
      if constexpr (kFetch > 0) FetchLine(fetch.data + k * fetch.row + c, fetch.far);
#pragma GCC unroll 16
      for (size_t v = 0; v < kLineFloats; v += kLanes)
        s = hn::MulAdd(hn::LoadU(d, q + c + v), hn::LoadU(d, at + c + v), s);
    }
    for (; c + kLanes <= dim; c += kLanes) s = hn::MulAdd(hn::LoadU(d, q + c), hn::LoadU(d, at + c), s);
    if (c < dim) s = hn::MulAdd(hn::LoadU(d, q + c), LoadPart(at + c, dim - c), s);
    sum[k] = s;
  }
  SumLanes(sum, out);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
