#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/tensor/op/norm.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/simd/math-inl.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/op/elements-inl.h"
#include "heed/tensor/op/norm.h"
#include "heed/tensor/parallel.h"
#include "heed/tensor/profile.h"
#include "heed/tensor/tape.h"

#ifndef HEED_TENSOR_OP_NORM_ONCE_
#define HEED_TENSOR_OP_NORM_ONCE_
namespace heed {

/// What is kept of a row: h = (x - mean) * inverse, y = gain * h + bias. Without a mean it is 0 (rms_norm).
struct NormRow {
  float mean;
  float inverse;
};

struct NormBackward {
  const float* x;
  const float* gain;
  const float* d_y;
  const NormRow* kept;
  int64_t rows, cols;
  bool centred;                      // layer_norm
  GradientSink d_x, d_gain, d_bias;  // written in this order
};

inline constexpr int64_t kNormColumns = 64;  // summed at once in the backward

}  // namespace heed
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

NormRow LayerNormRow(const float* x, int64_t count, float epsilon) {
  const float n = static_cast<float>(count);
  const float mean = Sum(count, x) / n;
  const V32 m = hn::Set(F32(), mean);
  // From the differences: the difference of two large sums would lose what it is about.
  const float squares = Sum(count, Of(x), [m](V32 v) HWY_ATTR {
    const V32 c = hn::Sub(v, m);
    return hn::Mul(c, c);
  });
  return {mean, 1.0f / std::sqrt(squares / n + epsilon)};
}

NormRow RmsNormRow(const float* x, int64_t count, float epsilon) {
  const float squares = Sum(count, Of(x), [](V32 v) HWY_ATTR { return hn::Mul(v, v); });
  return {0.0f, 1.0f / std::sqrt(squares / static_cast<float>(count) + epsilon)};
}

/// y = gain (x - mean) inverse (+ bias)
void NormApply(const NormRow& row, Tensor gain, Tensor bias, const float* x, float* y) {
  const F32 d;
  const V32 mean = hn::Set(d, row.mean), inverse = hn::Set(d, row.inverse);
  const int64_t count = gain.cols();
  if (bias)
    Map(y, count, Of(x, gain.data(), bias.data()),
        [=](V32 v, V32 g, V32 b) HWY_ATTR { return hn::MulAdd(hn::Mul(hn::Sub(v, mean), inverse), g, b); });
  else
    Map(y, count, Of(x, gain.data()),
        [=](V32 v, V32 g) HWY_ATTR { return hn::Mul(hn::Mul(hn::Sub(v, mean), inverse), g); });
}

/// With h = (x - mean) inverse and d_h = gain d_y:
///   layer_norm: d_x = inverse (d_h - mean(d_h) - h mean(d_h h))
///   rms_norm:   d_x = inverse (d_h - h mean(d_h h))
void NormRowBackward(const NormBackward& b, int64_t r) {
  const F32 d;
  const V32 mean = hn::Set(d, b.kept[r].mean), inverse = hn::Set(d, b.kept[r].inverse);
  const float* x = b.x + r * b.cols;
  const float* g = b.d_y + r * b.cols;
  const float d_h_h = Sum(b.cols, Of(x, g, b.gain), [=](V32 v, V32 dy, V32 w) HWY_ATTR {
    return hn::Mul(hn::Mul(dy, w), hn::Mul(hn::Sub(v, mean), inverse));
  });
  float d_h_sum = 0.0f;
  if (b.centred) d_h_sum = Sum(b.cols, Of(g, b.gain), [](V32 dy, V32 w) HWY_ATTR { return hn::Mul(dy, w); });
  const float n = static_cast<float>(b.cols);
  const V32 slope = hn::Set(d, d_h_h / n), level = hn::Set(d, d_h_sum / n);
  MapGradient(b.d_x, r * b.cols, b.cols, Of(x, g, b.gain), [=](V32 v, V32 dy, V32 w) HWY_ATTR {
    const V32 h = hn::Mul(hn::Sub(v, mean), inverse);
    const V32 d_h = hn::Mul(dy, w);
    return hn::Mul(inverse, hn::NegMulAdd(h, slope, hn::Sub(d_h, level)));
  });
}

/// d_gain_c = sum_r d_y[r, c] h[r, c] and d_bias_c = sum_r d_y[r, c] for the columns [first, last), at most
/// kNormColumns. Rows are added in groups, as in add_column_sums.
void NormColumnsBackward(const NormBackward& b, int64_t first, int64_t last) {
  const F32 d;
  constexpr int64_t kGroup = 64;
  const int64_t count = last - first;
  float gain[kNormColumns] = {}, bias[kNormColumns] = {};
  for (int64_t r0 = 0; r0 < b.rows; r0 += kGroup) {
    float gain_part[kNormColumns] = {}, bias_part[kNormColumns] = {};
    for (int64_t r = r0; r < std::min(b.rows, r0 + kGroup); ++r) {
      const V32 mean = hn::Set(d, b.kept[r].mean), inverse = hn::Set(d, b.kept[r].inverse);
      const float* x = b.x + r * b.cols + first;
      const float* g = b.d_y + r * b.cols + first;
      ForVectors(count, [&](int64_t i, auto at) HWY_ATTR {
        const V32 dy = at.load(g + i);
        const V32 h = hn::Mul(hn::Sub(at.load(x + i), mean), inverse);
        at.store(hn::MulAdd(dy, h, at.load(gain_part + i)), gain_part + i);
        at.store(hn::Add(dy, at.load(bias_part + i)), bias_part + i);
      });
    }
    const auto add = [](V32 total, V32 part) HWY_ATTR { return hn::Add(total, part); };
    Map(gain, count, Of(gain, gain_part), add);
    Map(bias, count, Of(bias, bias_part), add);
  }
  const auto same = [](V32 v) HWY_ATTR { return v; };
  if (b.d_gain) MapGradient(b.d_gain, first, count, Of(gain), same);
  if (b.d_bias) MapGradient(b.d_bias, first, count, Of(bias), same);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
namespace {

HWY_EXPORT(LayerNormRow);
HWY_EXPORT(RmsNormRow);
HWY_EXPORT(NormApply);
HWY_EXPORT(NormRowBackward);
HWY_EXPORT(NormColumnsBackward);

void norm_backward(const NormBackward& b) {
  const Timed timed(Work::norm);
  if (b.d_x)
    for_pieces(b.rows, b.cols, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) HWY_DYNAMIC_DISPATCH(NormRowBackward)(b, r);
    });
  if (!b.d_gain && !b.d_bias) return;
  for_pieces((b.cols + kNormColumns - 1) / kNormColumns, b.rows * kNormColumns, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block)
      HWY_DYNAMIC_DISPATCH(NormColumnsBackward)(b, block * kNormColumns, std::min(b.cols, (block + 1) * kNormColumns));
  });
}

}  // namespace

Tensor layer_norm(Tensor x, Tensor gain, Tensor bias, float epsilon) {
  const Timed timed(Work::norm);
  expect_there("layer_norm", "x", x);
  expect_shape("layer_norm", "gain", gain, 1, x.cols());
  expect_shape("layer_norm", "bias", bias, 1, x.cols());
  Tape& tape = x.tape();
  Tensor y = tape.make_from(x.rows(), x.cols(), x, gain, bias);
  NormRow* kept = tape.keep<NormRow>(x.rows());
  for_pieces(x.rows(), x.cols(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      kept[r] = HWY_DYNAMIC_DISPATCH(LayerNormRow)(x.row(r), x.cols(), epsilon);
      HWY_DYNAMIC_DISPATCH(NormApply)(kept[r], gain, bias, x.row(r), y.row(r));
    }
  });
  tape.on_backward([=] {
    norm_backward(
        {x.data(), gain.data(), y.gradient(), kept, x.rows(), x.cols(), true, x.sink(), gain.sink(), bias.sink()});
  });
  return y;
}

Tensor rms_norm(Tensor x, Tensor gain, float epsilon) {
  const Timed timed(Work::norm);
  expect_there("rms_norm", "x", x);
  expect_shape("rms_norm", "gain", gain, 1, x.cols());
  Tape& tape = x.tape();
  Tensor y = tape.make_from(x.rows(), x.cols(), x, gain);
  NormRow* kept = tape.keep<NormRow>(x.rows());
  for_pieces(x.rows(), x.cols(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      kept[r] = HWY_DYNAMIC_DISPATCH(RmsNormRow)(x.row(r), x.cols(), epsilon);
      HWY_DYNAMIC_DISPATCH(NormApply)(kept[r], gain, Tensor(), x.row(r), y.row(r));
    }
  });
  tape.on_backward([=] {
    norm_backward({x.data(), gain.data(), y.gradient(), kept, x.rows(), x.cols(), false, x.sink(), gain.sink(), {}});
  });
  return y;
}

Tensor unit_rows(Tensor x) {
  expect_there("unit_rows", "x", x);
  Tape& tape = x.tape();
  const int64_t rows = x.rows(), cols = x.cols();
  Tensor y = tape.make_from(rows, cols, x);
  double* inverse = tape.keep<double>(rows);
  // In double: squares of float32 neither overflow nor vanish there.
  for_pieces(rows, cols, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      double squares = 0.0;
      for (int64_t c = 0; c < cols; ++c) squares += double{x.row(r)[c]} * x.row(r)[c];
      inverse[r] = squares > 0.0 ? 1.0 / std::sqrt(squares) : 0.0;
      for (int64_t c = 0; c < cols; ++c) y.row(r)[c] = static_cast<float>(inverse[r] * x.row(r)[c]);
    }
  });
  tape.on_backward([=] {  // d_x = (d_y - y (y . d_y)) / |x|
    const GradientSink d_x = x.sink();
    for_pieces(rows, cols, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const float* g = y.gradient() + r * cols;
        double dot = 0.0;
        for (int64_t c = 0; c < cols; ++c) dot += double{g[c]} * y.row(r)[c];
        for (int64_t c = 0; c < cols; ++c) {
          float& at = d_x.data[r * cols + c];
          at = static_cast<float>(inverse[r] * (g[c] - dot * y.row(r)[c])) + (d_x.fresh ? 0.0f : at);
        }
      }
    });
  });
  return y;
}

}  // namespace heed
#endif
