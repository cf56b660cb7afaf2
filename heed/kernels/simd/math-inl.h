// exp, tanh, sigmoid and the normal distribution on vectors, per instruction set. Accuracy is stated here and repeated
// by tests.
#if defined(HEED_KERNELS_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SIMD_MATH_INL_H_
#undef HEED_KERNELS_SIMD_MATH_INL_H_
#else
#define HEED_KERNELS_SIMD_MATH_INL_H_
#endif

#include "heed/kernels/simd/vector-inl.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

/// exp(x) for x <= 88.3: 2 ULP at most; exactly 0 below -87.3 (also at -inf), or without kExactZero e^-87.3 = 1.2e-38
/// there; NaN stays NaN. 2^n exp(r) with n = round(x / ln 2): n is read from the low bits after adding 1.5 * 2^23, so
/// nothing is converted.
template <bool kExactZero = true>
HWY_INLINE V32 Exp(V32 x) {
  const F32 d;
  const I32 di;
  const V32 low = hn::Set(d, -87.3f);
  const V32 magic = hn::Set(d, 12582912.0f);
  const V32 clamped = AtLeast(low, x);
  const V32 shifted = hn::MulAdd(clamped, hn::Set(d, 1.44269504088896341f), magic);
  const V32 n = hn::Sub(shifted, magic);
  V32 r = hn::NegMulAdd(n, hn::Set(d, 0.693145751953125f), clamped);  // ln 2 in two parts: the first product is exact
  r = hn::NegMulAdd(n, hn::Set(d, 1.428606765330187e-6f), r);
  V32 p = hn::MulAdd(r, hn::Set(d, 0.00138145394f), hn::Set(d, 0.00836874545f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.041668389f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.166665211f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.49999994f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  const auto bits = hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted)));
  if constexpr (!kExactZero) return hn::BitCast(d, bits);
  return hn::IfThenZeroElse(hn::Lt(x, low), hn::BitCast(d, bits));
}

/// 1 / x, rounded as IEEE 754 says. Never by the approximate instruction: its bits differ between vendors.
HWY_INLINE V32 Reciprocal(V32 x) { return hn::Div(hn::Set(F32(), 1.0f), x); }

/// tanh(x) for any x: 4 ULP. A polynomial below 0.625, where 1 - 2 / (1 + e^2x) would cancel.
HWY_INLINE V32 Tanh(V32 x) {
  const F32 d;
  const V32 one = hn::Set(d, 1.0f);
  const V32 magnitude = AtMost(hn::Set(d, 20.0f), hn::Abs(x));
  const V32 e = Exp(hn::Add(magnitude, magnitude));
  const V32 large = hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(one, e)));
  const V32 s = hn::Mul(x, x);
  V32 p = hn::MulAdd(s, hn::Set(d, -5.70498872745e-3f), hn::Set(d, 2.06390887954e-2f));
  p = hn::MulAdd(p, s, hn::Set(d, -5.37397155531e-2f));
  p = hn::MulAdd(p, s, hn::Set(d, 1.33314422036e-1f));
  p = hn::MulAdd(p, s, hn::Set(d, -3.33332819422e-1f));
  const V32 small = hn::MulAdd(hn::Mul(p, s), x, x);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0.625f)), small, hn::CopySign(large, x));
}

/// 1 / (1 + e^-s) for any s, without overflow on either side.
HWY_INLINE V32 Sigmoid(V32 s) {
  const F32 d;
  const V32 one = hn::Set(d, 1.0f);
  const V32 e = Exp(hn::Neg(hn::Abs(s)));
  return hn::Div(hn::IfThenElse(hn::Lt(s, hn::Zero(d)), e, one), hn::Add(one, e));
}

/// The standard normal distribution function, 2e-7 absolute: 0.5 erfc(-x / sqrt 2) (Numerical Recipes' erfc fit, made
/// exact enough by evaluating its exponent in two parts).
HWY_INLINE V32 NormalCdf(V32 x) {
  const F32 d;
  const V32 z = hn::Abs(hn::Mul(x, hn::Set(d, 0.70710678118654752f)));
  const V32 t = hn::Div(hn::Set(d, 1.0f), hn::MulAdd(hn::Set(d, 0.5f), z, hn::Set(d, 1.0f)));
  V32 p = hn::Set(d, 0.17087277f);
  for (const float c : {-0.82215223f, 1.48851587f, -1.13520398f, 0.27886807f, -0.18628806f, 0.09678418f, 0.37409196f,
                        1.00002368f, -1.26551223f})
    p = hn::MulAdd(p, t, hn::Set(d, c));
  const V32 tail = hn::Mul(hn::Mul(hn::Set(d, 0.5f), t), hn::Mul(Exp(hn::Neg(hn::Mul(z, z))), Exp(p)));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0f), tail));
}

/// The standard normal density.
HWY_INLINE V32 NormalPdf(V32 x) {
  const F32 d;
  return hn::Mul(hn::Set(d, 0.39894228040143268f), Exp(hn::Mul(hn::Set(d, -0.5f), hn::Mul(x, x))));
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
