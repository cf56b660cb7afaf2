#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/tensor/op/dropout.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "heed/kernels/simd/random-inl.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/op/dropout.h"
#include "heed/tensor/op/elements-inl.h"
#include "heed/tensor/parallel.h"
#include "heed/tensor/tape.h"

#ifndef HEED_TENSOR_OP_DROPOUT_ONCE_
#define HEED_TENSOR_OP_DROPOUT_ONCE_
namespace heed {
struct DropoutMask {
  uint64_t seed;
  float p;
};
}  // namespace heed
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// out_i (+)= in_i / (1 - p) where element i stays, 0 elsewhere: the forward, and the backward with gradients for in
/// and out. The random number of an element is a function of (seed, i).
void Drop(const DropoutMask& mask, const float* in, GradientSink out, int64_t first, int64_t count) {
  const F32 d;
  const U32 du;
  const V32 p = hn::Set(d, mask.p);
  const V32 factor = hn::Set(d, 1.0f / (1.0f - mask.p));
  const auto high = hn::Set(du, static_cast<uint32_t>(mask.seed >> 32));
  constexpr auto kStep = static_cast<int64_t>(kLanes);
  // Neighbours differ by an odd constant, so that the first mixing step already sees them far apart.
  const auto lane = hn::Mul(hn::Iota(du, 0), hn::Set(du, 0x85EBCA6Bu));
  const auto base = hn::Add(lane, hn::Set(du, static_cast<uint32_t>(mask.seed)));
  int64_t i = first;
  MapGradient(out, first, count, Of(in + first), [&](V32 v) HWY_ATTR {
    const auto low = hn::Add(base, hn::Set(du, static_cast<uint32_t>(i) * 0x85EBCA6Bu));
    const V32 drawn = Uniform(RandomBits(low, high, i >> 32));
    i += kStep;
    return hn::IfThenZeroElse(hn::Lt(drawn, p), hn::Mul(v, factor));
  });
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
namespace {
HWY_EXPORT(Drop);
}

Tensor dropout(Tensor x, float p) {
  expect_there("dropout", "x", x);
  expect(p >= 0.0f && p < 1.0f, "dropout: the probability {} is not in [0, 1)", p);
  Tape& tape = x.tape();
  if (!tape.training() || p == 0.0f) return x;
  const DropoutMask mask{tape.next_seed(), p};
  Tensor y = tape.make_from(x.rows(), x.cols(), x);
  const auto apply = [mask, count = x.size()](const float* in, GradientSink out) {
    for_pieces(count, 1, [&](int64_t begin, int64_t end) {
      HWY_DYNAMIC_DISPATCH(Drop)(mask, in, out, begin, end - begin);
    });
  };
  apply(x.data(), {y.data(), true});
  tape.on_backward([=] { apply(y.gradient(), x.sink()); });
  return y;
}

}  // namespace heed
#endif
