#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/tensor/op/softmax.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "heed/kernels/simd/math-inl.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/op/elements-inl.h"
#include "heed/tensor/op/softmax.h"
#include "heed/tensor/parallel.h"
#include "heed/tensor/tape.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// y_j = e^(x_j - max) / sum_k e^(x_k - max). A row of -inf gives 0, as a query that sees no key does in the kernels.
void SoftmaxRow(const float* x, float* y, int64_t count) {
  const F32 d;
  const float largest = Largest(x, count);
  const V32 shift = hn::Set(d, largest == kMinusInfinity ? 0.0f : largest);
  Map(y, count, Of(x), [=](V32 v) HWY_ATTR { return Exp(hn::Sub(v, shift)); });
  const float sum = Sum(count, y);
  const V32 inverse = hn::Set(d, sum == 0.0f ? 0.0f : 1.0f / sum);
  Map(y, count, Of(y), [=](V32 v) HWY_ATTR { return hn::Mul(v, inverse); });
}

/// d_x_j = y_j (d_y_j - sum_k y_k d_y_k)
void SoftmaxRowBackward(const float* y, const float* d_y, GradientSink d_x, int64_t first, int64_t count) {
  const float dot = Sum(count, Of(y, d_y), [](V32 v, V32 g) HWY_ATTR { return hn::Mul(v, g); });
  const V32 mean = hn::Set(F32(), dot);
  MapGradient(d_x, first, count, Of(y, d_y), [=](V32 v, V32 g) HWY_ATTR { return hn::Mul(v, hn::Sub(g, mean)); });
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
namespace {
HWY_EXPORT(SoftmaxRow);
HWY_EXPORT(SoftmaxRowBackward);
}  // namespace

Tensor softmax_rows(Tensor x) {
  expect_there("softmax_rows", "x", x);
  Tape& tape = x.tape();
  Tensor y = tape.make_from(x.rows(), x.cols(), x);
  for_pieces(x.rows(), x.cols(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) HWY_DYNAMIC_DISPATCH(SoftmaxRow)(x.row(r), y.row(r), x.cols());
  });
  tape.on_backward([=] {
    const GradientSink d_x = x.sink();
    const float* d_y = y.gradient();
    const int64_t cols = x.cols();
    for_pieces(x.rows(), cols, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        HWY_DYNAMIC_DISPATCH(SoftmaxRowBackward)(y.row(r), d_y + r * cols, d_x, r * cols, cols);
    });
  });
  return y;
}

}  // namespace heed
#endif
