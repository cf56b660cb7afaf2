#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/tensor/op/output_loss.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <limits>
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

struct OutputLayer {
  Tensor x, weight, bias;
  std::span<const int32_t> targets;
  OutputLossOptions options;

  int64_t rows() const { return x.rows(); }
  int64_t width() const { return x.cols(); }
  int64_t classes() const { return weight.rows(); }
  int32_t target(int64_t row) const { return targets[static_cast<size_t>(row)]; }
  float weight_of(int64_t row) const {
    return options.row_weights.empty() ? 1.0f : options.row_weights[static_cast<size_t>(row)];
  }
};

void check(const OutputLayer& layer) {
  expect_there("output_loss", "x", layer.x);
  expect_there("output_loss", "weight", layer.weight);
  const int64_t width = layer.width(), classes = layer.classes();
  expect(layer.weight.cols() == width, "output_loss: x has {} columns, weight [{}, {}] needs {}", width, classes,
         layer.weight.cols(), layer.weight.cols());
  if (layer.bias) expect_shape("output_loss", "bias", layer.bias, 1, classes);
  expect(std::ssize(layer.targets) == layer.rows(), "output_loss: {} targets for {} rows", layer.targets.size(),
         layer.rows());
  expect(layer.options.row_weights.empty() || std::ssize(layer.options.row_weights) == layer.rows(),
         "output_loss: {} weights for {} rows", layer.options.row_weights.size(), layer.rows());
  const float smoothing = layer.options.label_smoothing;
  expect(smoothing >= 0.0f && smoothing <= 1.0f, "output_loss: label smoothing {} is not in [0, 1]", smoothing);
  for (int64_t r = 0; r < layer.rows(); ++r)
    expect(layer.target(r) >= -1 && layer.target(r) < classes,
           "output_loss: the target of row {} is {}, but there are {} classes", r, layer.target(r), classes);
  if (layer.options.never.empty()) return;
  expect(smoothing == 0.0f, "output_loss: classes without a chance and label smoothing {} cannot be combined",
         smoothing);
  for (const int32_t never : layer.options.never) {
    expect(never >= 0 && never < classes, "output_loss: there is no class {} to leave out: there are {}", never,
           classes);
    for (int64_t r = 0; r < layer.rows(); ++r)
      expect(layer.target(r) != never, "output_loss: the target of row {} is {}, which has no chance", r, never);
  }
}

/// What the forward saves for the backward: the gradients of the loss. Null: not needed.
struct OutputGradients {
  float *d_x, *d_weight, *d_bias;
};

OutputGradients make_gradients(const OutputLayer& layer, Tape& tape) {
  const auto make = [&](Tensor of) { return of.needs_gradient() ? tape.keep<float>(of.size()) : nullptr; };
  const OutputGradients g{make(layer.x), make(layer.weight), make(layer.bias)};
  if (layer.rows() > 0) return g;
  if (g.d_weight) std::fill_n(g.d_weight, layer.weight.size(), 0.0f);  // no block will write them
  if (g.d_bias) std::fill_n(g.d_bias, layer.bias.size(), 0.0f);
  return g;
}

/// The rows [first, first + count) of a layer.
struct OutputBlock {
  int64_t first, count;
  float* logits;    // [count, classes]
  OutputRow* rows;  // [count]
};

/// The loss of every row. With `gradient`, d_logits take the place of the logits.
void run_losses(const OutputLayer& layer, const OutputBlock& block, bool gradient) {
  const int64_t classes = layer.classes();
  const OutputLossOptions& o = layer.options;
  for_pieces(block.count, classes, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int32_t target = layer.target(block.first + r);
      const float weight = layer.weight_of(block.first + r);
      block.rows[r] = {target, o.label_smoothing, o.scale * weight, gradient, 0.0f, 0.0f, false};
      for (const int32_t never : o.never) block.logits[r * classes + never] = -std::numeric_limits<float>::infinity();
      if (target >= 0)
        HWY_DYNAMIC_DISPATCH(OutputLossRow)(block.rows[r], block.logits + r * classes, classes);
      else
        std::fill_n(block.logits + r * classes, classes, 0.0f);
      block.rows[r].loss *= weight;
    }
  });
}

/// Adds the rows of a block to the totals, in order.
void add_rows(const OutputBlock& block, OutputLoss& result, float* row_nll, double& loss) {
  for (int64_t r = 0; r < block.count; ++r) {
    const OutputRow& row = block.rows[r];
    row_nll[block.first + r] = row.nll;
    if (row.target < 0) continue;
    loss += row.loss;
    result.negative_log_likelihood += row.nll;
    result.correct += row.correct ? 1 : 0;
    ++result.rows;
  }
}

/// d_W += d_logits^T x,  d_b += sum of d_logits
void add_weight_gradients(const OutputLayer& layer, const OutputBlock& block, const OutputGradients& g) {
  multiply({.rows = block.count,
            .left = block.logits,
            .left_cols = layer.classes(),
            .right = layer.x.row(block.first),
            .right_cols = layer.width(),
            .sum = {g.d_weight, block.first == 0},
            .left_sum = {g.d_bias, block.first == 0}});
}

}  // namespace

OutputLoss output_loss(Tensor x, Tensor weight, Tensor bias, std::span<const int32_t> targets,
                       const OutputLossOptions& options) {
  const Timed timed(Work::output);
  const OutputLayer layer{x, weight, bias, targets, options};
  check(layer);
  Tape& tape = x.tape();
  TapeArena& arena = tape.arena();
  const int64_t n = layer.rows();
  OutputLoss result;
  result.loss = tape.make_from(1, 1, x, weight, bias);
  const bool learn = result.loss.needs_gradient();
  const OutputGradients g = learn ? make_gradients(layer, tape) : OutputGradients{};
  float* row_nll = tape.keep<float>(n);
  result.row_nll = {row_nll, static_cast<size_t>(n)};

  float* logits = arena.take_array<float>(std::min(kBlock, n) * layer.classes());
  auto* rows = arena.take_array<OutputRow>(std::min(kBlock, n));
  double loss = 0.0;
  const WeightProduct product(weight);
  std::optional<WeightProduct> back;
  if (g.d_x) back.emplace(weight, WeightOrder::in_out);
  for (int64_t first = 0; first < n; first += kBlock) {
    const OutputBlock block{first, std::min(kBlock, n - first), logits, rows};
    product({.rows = block.count, .x = x.row(first), .bias = bias ? bias.data() : nullptr, .y = logits});
    run_losses(layer, block, learn);
    add_rows(block, result, row_nll, loss);
    if (g.d_x)  // d_x = d_logits W
      (*back)({.rows = block.count, .x = logits, .y = g.d_x + first * layer.width()});
    add_weight_gradients(layer, block, g);
  }
  arena.give(rows);
  arena.give(logits);
  *result.loss.data() = static_cast<float>(loss * options.scale);

  tape.on_backward([=, out = result.loss] {
    const Timed timed(Work::output);
    const float factor = *out.gradient();
    const auto give = [&](Tensor to, const float* gradient) {
      if (gradient) add_gradient(to.sink(), to.size(), [=](int64_t i) { return factor * gradient[i]; });
    };
    give(x, g.d_x);
    give(weight, g.d_weight);
    give(bias, g.d_bias);
  });
  return result;
}

}  // namespace heed
#endif
