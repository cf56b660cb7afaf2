// loss = sum_r lse_r - (1 - s) x[r, target_r] - s / C sum_j x[r, j],  lse_r = log sum_j e^x[r, j], C classes, smoothing
// s. The forward saves one number per row, lse; the probabilities e^(x - lse) are recomputed when the gradient is
// written.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/tensor/op/cross_entropy.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <cmath>

#include "heed/kernels/exact_math.h"
#include "heed/kernels/simd/math-inl.h"
#include "heed/tensor/gradient.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/op/cross_entropy.h"
#include "heed/tensor/op/elements-inl.h"
#include "heed/tensor/tape.h"

#ifndef HEED_TENSOR_OP_CROSS_ENTROPY_ONCE_
#define HEED_TENSOR_OP_CROSS_ENTROPY_ONCE_
namespace heed {
struct CrossEntropyGradient {
  float lse;        // of the row
  float factor;     // d_loss
  float smoothing;  // s / C
};
}  // namespace heed
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Shifted by the largest, so that no exponential overflows.
float LogSumExp(const float* x, int64_t count) {
  const float largest = Largest(x, count);
  if (!std::isfinite(largest)) return largest;
  const V32 shift = hn::Set(F32(), largest);
  const float sum = Sum(count, Of(x), [=](V32 v) HWY_ATTR { return Exp(hn::Sub(v, shift)); });
  return largest + static_cast<float>(exact::log(sum));
}

float SumOfRow(const float* x, int64_t count) { return Sum(count, x); }

/// d_x_j = d_loss (e^(x_j - lse) - s / C), without the part of the target.
void CrossEntropyRowBackward(const CrossEntropyGradient& of, const float* x, float* d_x, int64_t count, bool fresh) {
  const F32 d;
  const V32 lse = hn::Set(d, of.lse), factor = hn::Set(d, of.factor), smoothing = hn::Set(d, of.smoothing);
  MapGradient({d_x, fresh}, 0, count, Of(x),
              [=](V32 v) HWY_ATTR { return hn::Mul(factor, hn::Sub(Exp(hn::Sub(v, lse)), smoothing)); });
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
namespace {

HWY_EXPORT(LogSumExp);
HWY_EXPORT(SumOfRow);
HWY_EXPORT(CrossEntropyRowBackward);

void check(Tensor logits, std::span<const int32_t> targets, float smoothing) {
  expect_there("cross_entropy", "logits", logits);
  const auto count = static_cast<int64_t>(targets.size());
  expect(count == logits.rows(), "cross_entropy: {} targets for {} rows of logits", count, logits.rows());
  expect(smoothing >= 0.0f && smoothing <= 1.0f, "cross_entropy: label smoothing {} is not in [0, 1]", smoothing);
  for (int64_t r = 0; r < count; ++r)
    expect(targets[r] >= -1 && targets[r] < logits.cols(),
           "cross_entropy: the target of row {} is {}, but there are {} classes", r, targets[r], logits.cols());
}

}  // namespace

Tensor cross_entropy(Tensor logits, std::span<const int32_t> targets, float label_smoothing) {
  check(logits, targets, label_smoothing);
  Tape& tape = logits.tape();
  const int64_t rows = logits.rows(), classes = logits.cols();
  const int32_t* target = tape.keep<int32_t>(targets);
  float* lse = tape.keep<float>(rows);
  const float on_target = 1.0f - label_smoothing;
  const float on_each = classes > 0 ? label_smoothing / static_cast<float>(classes) : 0.0f;

  Tensor loss = tape.make_from(1, 1, logits);
  float* row_loss = tape.arena().take_array<float>(rows);
  for_pieces(rows, classes, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      lse[r] = row_loss[r] = 0.0f;
      if (target[r] < 0) continue;
      const float* x = logits.row(r);
      lse[r] = HWY_DYNAMIC_DISPATCH(LogSumExp)(x, classes);
      if (on_target > 0.0f) row_loss[r] = on_target * (lse[r] - x[target[r]]);
      if (on_each > 0.0f)  // s / C sum_j (lse - x_j)
        row_loss[r] += label_smoothing * lse[r] - on_each * HWY_DYNAMIC_DISPATCH(SumOfRow)(x, classes);
    }
  });
  *loss.data() = static_cast<float>(sum_in_order(rows, [=](int64_t r) { return row_loss[r]; }));
  tape.arena().give(row_loss);

  tape.on_backward([=] {
    const GradientSink d_x = logits.sink();
    const float factor = *loss.gradient();
    for_pieces(rows, classes, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        float* row = d_x.data + r * classes;
        if (target[r] >= 0) {
          HWY_DYNAMIC_DISPATCH(CrossEntropyRowBackward)
          ({lse[r], factor, on_each}, logits.row(r), row, classes, d_x.fresh);
          row[target[r]] -= factor * on_target;
        } else if (d_x.fresh) {
          std::fill_n(row, classes, 0.0f);
        }
      }
    });
  });
  return loss;
}

}  // namespace heed
#endif
