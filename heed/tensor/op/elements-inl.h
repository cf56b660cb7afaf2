// Loops over arrays, vector by vector, per instruction set.
//
// What does not fill a vector goes through a small buffer: nothing outside an array is touched, and an element goes
// through the same instructions wherever it stands, so that results do not depend on how an array was cut into pieces.
#if defined(HEED_TENSOR_OP_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_TENSOR_OP_ELEMENTS_INL_H_
#undef HEED_TENSOR_OP_ELEMENTS_INL_H_
#else
#define HEED_TENSOR_OP_ELEMENTS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "heed/kernels/simd/vector-inl.h"
#include "heed/tensor/tensor.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace heed::kernels::HWY_NAMESPACE;  // NOLINT: the vectors and functions of the kernels

/// The first `count` lanes from memory, `rest` in the others.
HWY_INLINE V32 LoadFirst(const float* from, int64_t count, float rest = 0.0f) {
  float lanes[kLanes];
  for (int64_t i = 0; i < static_cast<int64_t>(kLanes); ++i) lanes[i] = i < count ? from[i] : rest;
  return hn::LoadU(F32(), lanes);
}

HWY_INLINE void StoreFirst(V32 v, float* to, int64_t count) {
  float lanes[kLanes];
  hn::StoreU(v, F32(), lanes);
  for (int64_t i = 0; i < count; ++i) to[i] = lanes[i];
}

/// A whole vector, and the first lanes of one.
struct WholeVector {
  HWY_INLINE V32 load(const float* from) const { return hn::LoadU(F32(), from); }
  HWY_INLINE void store(V32 v, float* to) const { hn::StoreU(v, F32(), to); }
};
struct PartOfVector {
  int64_t lanes;
  HWY_INLINE V32 load(const float* from) const { return LoadFirst(from, lanes); }
  HWY_INLINE void store(V32 v, float* to) const { StoreFirst(v, to, lanes); }
};

/// f(i, vector) for i = 0, kLanes, 2 kLanes, ...; the vector loads and stores what there is at i.
template <class F>
HWY_INLINE void ForVectors(int64_t count, F&& f) {
  constexpr auto kStep = static_cast<int64_t>(kLanes);
  int64_t i = 0;
  for (; i + kStep <= count; i += kStep) f(i, WholeVector());
  if (i < count) f(i, PartOfVector{count - i});
}

/// Arrays that a loop reads side by side: Of(x, y).
template <size_t kCount>
struct Arrays {
  const float* at[kCount];
};
template <class... P>
HWY_INLINE Arrays<sizeof...(P)> Of(P... arrays) {
  return {{arrays...}};
}

/// f(the vectors of all arrays at i)
template <size_t kCount, class Vector, class F>
HWY_INLINE V32 Apply(const Arrays<kCount>& in, int64_t i, Vector vector, F&& f) {
  static_assert(kCount >= 1 && kCount <= 3);
  if constexpr (kCount == 1)
    return f(vector.load(in.at[0] + i));
  else if constexpr (kCount == 2)
    return f(vector.load(in.at[0] + i), vector.load(in.at[1] + i));
  else
    return f(vector.load(in.at[0] + i), vector.load(in.at[1] + i), vector.load(in.at[2] + i));
}

/// out[i] = f(in[i]...) for i < count. `out` may be one of the inputs.
template <size_t kCount, class F>
HWY_INLINE void Map(float* out, int64_t count, Arrays<kCount> in, F&& f) {
  ForVectors(count, [&](int64_t i, auto at) HWY_ATTR { at.store(Apply(in, i, at, f), out + i); });
}

/// sink[first + i] = f(in[i]...), or += where something arrived before.
template <size_t kCount, class F>
HWY_INLINE void MapGradient(GradientSink sink, int64_t first, int64_t count, Arrays<kCount> in, F&& f) {
  float* out = sink.data + first;
  if (sink.fresh) return Map(out, count, in, f);
  ForVectors(count,
             [&](int64_t i, auto at) HWY_ATTR { at.store(hn::Add(at.load(out + i), Apply(in, i, at, f)), out + i); });
}

/// sum_i f(in[i]...) for i < count, in four chains so that an addition need not wait for the one before.
template <size_t kCount, class F>
HWY_INLINE float Sum(int64_t count, Arrays<kCount> in, F&& f) {
  const F32 d;
  constexpr auto kStep = static_cast<int64_t>(kLanes);
  const WholeVector whole;
  V32 s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  for (; i + 4 * kStep <= count; i += 4 * kStep) {
    s0 = hn::Add(s0, Apply(in, i, whole, f));
    s1 = hn::Add(s1, Apply(in, i + kStep, whole, f));
    s2 = hn::Add(s2, Apply(in, i + 2 * kStep, whole, f));
    s3 = hn::Add(s3, Apply(in, i + 3 * kStep, whole, f));
  }
  for (; i + kStep <= count; i += kStep) s0 = hn::Add(s0, Apply(in, i, whole, f));
  if (i < count) {
    const auto there = hn::FirstN(d, static_cast<size_t>(count - i));
    s1 = hn::Add(s1, hn::IfThenElseZero(there, Apply(in, i, PartOfVector{count - i}, f)));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

/// x[i] = f(x[i]), and the sum of those: what is written need not be read again for it.
template <class F>
HWY_INLINE float MapAndSum(float* x, int64_t count, F&& f) {
  const F32 d;
  constexpr auto kStep = static_cast<int64_t>(kLanes);
  V32 s0 = hn::Zero(d), s1 = s0;
  const auto step = [&](float* at, V32& sum) HWY_ATTR {
    const V32 v = f(hn::LoadU(d, at));
    hn::StoreU(v, d, at);
    sum = hn::Add(sum, v);
  };
  int64_t i = 0;
  for (; i + 2 * kStep <= count; i += 2 * kStep) {
    step(x + i, s0);
    step(x + i + kStep, s1);
  }
  for (; i + kStep <= count; i += kStep) step(x + i, s0);
  if (i < count) {
    const V32 v = f(LoadFirst(x + i, count - i));
    StoreFirst(v, x + i, count - i);
    s1 = hn::Add(s1, hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(count - i)), v));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
}

/// sum_i x[i]
HWY_INLINE float Sum(int64_t count, const float* x) {
  return Sum(count, Of(x), [](V32 v) HWY_ATTR { return v; });
}

/// The largest element; -inf of none.
HWY_INLINE float Largest(const float* x, int64_t count) {
  const F32 d;
  constexpr auto kStep = static_cast<int64_t>(kLanes);
  V32 m0 = hn::Set(d, kMinusInfinity), m1 = m0;
  int64_t i = 0;
  for (; i + 2 * kStep <= count; i += 2 * kStep) {
    m0 = AtLeast(m0, hn::LoadU(d, x + i));
    m1 = AtLeast(m1, hn::LoadU(d, x + i + kStep));
  }
  for (; i + kStep <= count; i += kStep) m0 = AtLeast(m0, hn::LoadU(d, x + i));
  if (i < count) m1 = AtLeast(m1, LoadFirst(x + i, count - i, kMinusInfinity));
  return hn::GetLane(hn::MaxOfLanes(d, AtLeast(m0, m1)));
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
