#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/tensor/op/activation.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "heed/kernels/simd/math-inl.h"
#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/op/elements-inl.h"
#include "heed/tensor/parallel.h"
#include "heed/tensor/tape.h"

#ifndef HEED_TENSOR_OP_ACTIVATION_ONCE_
#define HEED_TENSOR_OP_ACTIVATION_ONCE_
namespace heed {
struct ActivationBackward {
  const float* x;
  const float* y;
  const float* d_y;
  GradientSink d_x;
  Activation kind;
};
}  // namespace heed
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// tanh(u) = 2 sigmoid(2u) - 1: gelu_tanh is x sigmoid(2u), u = sqrt(2 / pi) (x + 0.044715 x^3). This is 2u.
HWY_INLINE V32 TwiceOfGeluTanh(V32 x) {
  const F32 d;
  const V32 cubic = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.071354816272f), hn::Set(d, 1.595769121606f));
  return hn::Mul(x, cubic);
}

void Activate(const float* x, float* y, int64_t count, Activation kind) {
  const F32 d;
  switch (kind) {
    case Activation::identity:
      return;
    case Activation::tanh:
      return Map(y, count, Of(x), [](V32 v) HWY_ATTR { return Tanh(v); });
    case Activation::relu:
      return Map(y, count, Of(x), [=](V32 v) HWY_ATTR { return AtLeast(hn::Zero(d), v); });
    case Activation::sigmoid:
      return Map(y, count, Of(x), [](V32 v) HWY_ATTR { return Sigmoid(v); });
    case Activation::gelu:
      return Map(y, count, Of(x), [](V32 v) HWY_ATTR { return hn::Mul(v, NormalCdf(v)); });
    case Activation::silu:
      return Map(y, count, Of(x), [](V32 v) HWY_ATTR { return hn::Mul(v, Sigmoid(v)); });
    case Activation::gelu_tanh:
      return Map(y, count, Of(x), [](V32 v) HWY_ATTR { return hn::Mul(v, Sigmoid(TwiceOfGeluTanh(v))); });
    case Activation::gelu_sigmoid:
      return Map(y, count, Of(x), [=](V32 v) HWY_ATTR { return hn::Mul(v, Sigmoid(hn::Mul(v, hn::Set(d, 1.702f)))); });
  }
}

/// The part [first, first + count) of d_x from the same part of x, y and d_y.
void ActivateBackward(const ActivationBackward& a, int64_t first, int64_t count) {
  const F32 d;
  const V32 one = hn::Set(d, 1.0f);
  const float* g = a.d_y + first;
  const float* x = a.x + first;
  const float* y = a.y + first;
  switch (a.kind) {
    case Activation::identity:
      return;
    case Activation::tanh:  // d_x = (1 - y^2) d_y
      return MapGradient(a.d_x, first, count, Of(g, y),
                         [=](V32 dy, V32 v) HWY_ATTR { return hn::Mul(dy, hn::NegMulAdd(v, v, one)); });
    case Activation::relu:  // d_x = [y > 0] d_y
      return MapGradient(a.d_x, first, count, Of(g, y),
                         [=](V32 dy, V32 v) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(v, hn::Zero(d)), dy); });
    case Activation::sigmoid:  // d_x = y (1 - y) d_y
      return MapGradient(a.d_x, first, count, Of(g, y),
                         [=](V32 dy, V32 v) HWY_ATTR { return hn::Mul(dy, hn::Mul(v, hn::Sub(one, v))); });
    case Activation::gelu:  // y = x Phi(x), d_x = (Phi(x) + x phi(x)) d_y
      return MapGradient(a.d_x, first, count, Of(g, x), [=](V32 dy, V32 v) HWY_ATTR {
        return hn::Mul(dy, hn::MulAdd(v, NormalPdf(v), NormalCdf(v)));
      });
    case Activation::silu:  // y = x s, d_x = (s + x s (1 - s)) d_y = (s + y (1 - s)) d_y
      return MapGradient(a.d_x, first, count, Of(g, x, y), [=](V32 dy, V32 v, V32 out) HWY_ATTR {
        const V32 s = Sigmoid(v);
        return hn::Mul(dy, hn::MulAdd(out, hn::Sub(one, s), s));
      });
    case Activation::gelu_tanh:  // y = x s, s = sigmoid(w), d_x = (s + y (1 - s) w') d_y
      return MapGradient(a.d_x, first, count, Of(g, x), [=](V32 dy, V32 v) HWY_ATTR {
        const V32 s = Sigmoid(TwiceOfGeluTanh(v)), rest = hn::Mul(s, hn::Sub(one, s));
        // Where the sigmoid no longer changes, x^2 may be too large for a number.
        const V32 near = AtMost(hn::Set(d, 1e6f), hn::Abs(v));
        const V32 slope = hn::MulAdd(hn::Mul(near, near), hn::Set(d, 0.214064448816f), hn::Set(d, 1.595769121606f));
        const V32 changed = hn::Mul(hn::Mul(hn::CopySign(near, v), rest), slope);
        return hn::Mul(dy, hn::Add(s, changed));
      });
    case Activation::gelu_sigmoid:
      return MapGradient(a.d_x, first, count, Of(g, x, y), [=](V32 dy, V32 v, V32 out) HWY_ATTR {
        const V32 factor = hn::Set(d, 1.702f), s = Sigmoid(hn::Mul(v, factor));
        return hn::Mul(dy, hn::MulAdd(hn::Mul(out, factor), hn::Sub(one, s), s));
      });
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
namespace {
HWY_EXPORT(Activate);
HWY_EXPORT(ActivateBackward);
}  // namespace

Tensor activate(Tensor x, Activation f) {
  expect_there("activate", "x", x);
  if (f == Activation::identity) return x;
  Tape& tape = x.tape();
  Tensor y = tape.make_from(x.rows(), x.cols(), x);
  for_pieces(x.size(), 1, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(Activate)(x.data() + begin, y.data() + begin, end - begin, f);
  });
  tape.on_backward([=] {
    const ActivationBackward a{x.data(), y.data(), y.gradient(), x.sink(), f};
    for_pieces(x.size(), 1, [&](int64_t begin, int64_t end) {
      HWY_DYNAMIC_DISPATCH(ActivateBackward)(a, begin, end - begin);
    });
  });
  return y;
}

}  // namespace heed
#endif
