#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/tensor/op/output_loss.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <optional>

#include "heed/kernels/exact_math.h"
#include "heed/kernels/simd/math-inl.h"
#include "heed/tensor/gradient.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/op/elements-inl.h"
#include "heed/tensor/op/output_loss.h"
#include "heed/tensor/profile.h"
#include "heed/tensor/tape.h"
#include "heed/tensor/weight_product.h"

#ifndef HEED_TENSOR_OP_OUTPUT_LOSS_ONCE_
#define HEED_TENSOR_OP_OUTPUT_LOSS_ONCE_
namespace heed {
struct OutputRow {
  int32_t target;
  float smoothing;  // s
  float scale;
  bool gradient;  // write d_logits over the logits
  // out
  float loss, nll;
  bool correct;
};
}  // namespace heed
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// loss = lse - (1 - s) x_t - s / V sum_j x_j;   d x_j = scale (softmax_j - s / V - (1 - s) [j = t])
void OutputLossRow(OutputRow& row, float* x, int64_t classes) {
  const F32 d;
  const float largest = Largest(x, classes);
  const V32 shift = hn::Set(d, largest);
  const float all = row.smoothing > 0.0f ? Sum(classes, x) : 0.0f;
  const float at_target = x[row.target];
  // The exponentials take the place of the logits: they are computed once, for the sum and for the gradient.
  const float sum = MapAndSum(x, classes, [=](V32 v) HWY_ATTR { return Exp(hn::Sub(v, shift)); });
  const float lse = largest + static_cast<float>(exact::log(sum));
  const float each = row.smoothing / static_cast<float>(classes);
  row.nll = lse - at_target;
  row.loss = lse - (1.0f - row.smoothing) * at_target - each * all;
  row.correct = at_target >= largest;
  if (!row.gradient) return;
  const V32 factor = hn::Set(d, row.scale / sum), minus = hn::Set(d, -row.scale * each);
  Map(x, classes, Of(x), [=](V32 v) HWY_ATTR { return hn::MulAdd(v, factor, minus); });
  x[row.target] -= row.scale * (1.0f - row.smoothing);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
namespace {

HWY_EXPORT(OutputLossRow);

// Rows whose logits exist at once. 256 x 10,000 logits are 10 MB: small beside the model's activations, large enough
// that the products run at full speed.
constexpr int64_t kBlock = 256;

}  // namespace

OutputLoss output_loss(Tensor x, Tensor weight, Tensor bias, std::span<const int32_t> targets,
                       const OutputLossOptions& options) {
  const Timed timed(Work::output);
  expect_there("output_loss", "x", x);
  expect_there("output_loss", "weight", weight);
  const int64_t n = x.rows(), width = x.cols(), classes = weight.rows();
  expect(weight.cols() == width, "output_loss: x has {} columns, weight [{}, {}] wants {}", width, classes,
         weight.cols(), weight.cols());
  if (bias) expect_shape("output_loss", "bias", bias, 1, classes);
  expect(static_cast<int64_t>(targets.size()) == n, "output_loss: {} targets for {} rows", targets.size(), n);
  expect(options.label_smoothing >= 0.0f && options.label_smoothing <= 1.0f,
         "output_loss: label smoothing {} is not in [0, 1]", options.label_smoothing);
  for (int64_t r = 0; r < n; ++r)
    expect(targets[static_cast<size_t>(r)] >= -1 && targets[static_cast<size_t>(r)] < classes,
           "output_loss: the target of row {} is {}, of {} classes", r, targets[static_cast<size_t>(r)], classes);

  Tape& tape = x.tape();
  TapeArena& arena = tape.arena();
  OutputLoss result;
  result.loss = tape.make_from(1, 1, x, weight, bias);
  const bool learn = result.loss.needs_gradient();
  float* d_x = learn && x.needs_gradient() ? tape.keep<float>(n * width) : nullptr;
  float* d_w = learn && weight.needs_gradient() ? tape.keep<float>(classes * width) : nullptr;
  float* d_b = learn && bias.needs_gradient() ? tape.keep<float>(classes) : nullptr;
  if (n == 0 && d_w) std::fill_n(d_w, classes * width, 0.0f);  // no block will write them
  if (n == 0 && d_b) std::fill_n(d_b, classes, 0.0f);
  float* row_nll = tape.keep<float>(n);
  result.row_nll = {row_nll, static_cast<size_t>(n)};

  float* logits = arena.take_array<float>(std::min(kBlock, n) * classes);
  auto* rows = arena.take_array<OutputRow>(std::min(kBlock, n));
  double loss = 0.0;
  const WeightProduct product(weight);
  std::optional<WeightProduct> back;
  if (d_x) back.emplace(weight, WeightOrder::in_out);
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t count = std::min(kBlock, n - first);
    product({.rows = count, .x = x.row(first), .bias = bias ? bias.data() : nullptr, .y = logits});
    for_pieces(count, classes, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int32_t target = targets[static_cast<size_t>(first + r)];
        rows[r] = {target, options.label_smoothing, options.scale, learn, 0.0f, 0.0f, false};
        if (target >= 0)
          HWY_DYNAMIC_DISPATCH(OutputLossRow)(rows[r], logits + r * classes, classes);
        else
          std::fill_n(logits + r * classes, classes, 0.0f);
      }
    });
    for (int64_t r = 0; r < count; ++r) {
      row_nll[first + r] = rows[r].nll;
      if (rows[r].target < 0) continue;
      loss += rows[r].loss;
      result.negative_log_likelihood += rows[r].nll;
      result.correct += rows[r].correct ? 1 : 0;
      ++result.rows;
    }
    if (d_x)  // d_x = d_logits W
      (*back)({.rows = count, .x = logits, .y = d_x + first * width});
    // d_W += d_logits^T x,  d_b += sum of d_logits
    multiply({.rows = count,
              .left = logits,
              .left_cols = classes,
              .right = x.row(first),
              .right_cols = width,
              .sum = {d_w, first == 0},
              .left_sum = {d_b, first == 0}});
  }
  arena.give(rows);
  arena.give(logits);
  *result.loss.data() = static_cast<float>(loss * options.scale);

  tape.on_backward([=, out = result.loss] {
    const Timed timed(Work::output);
    const float factor = *out.gradient();
    auto give = [&](Tensor to, const float* gradient) {
      if (gradient) add_gradient(to.sink(), to.size(), [=](int64_t i) { return factor * gradient[i]; });
    };
    give(x, d_x);
    give(weight, d_w);
    give(bias, d_b);
  });
  return result;
}

}  // namespace heed
#endif
