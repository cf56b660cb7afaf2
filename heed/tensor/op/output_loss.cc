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
#include "heed/tensor/op/copy_mixture.h"
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
  bool copies;    // with these:
  float gate, mass;
  // out
  float loss, nll;
  bool correct;
  float d_gate, d_mass;  // of the scaled loss
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

/// With copying, p_t = g softmax_t + (1 - g) m and its share r = g softmax_t / p_t:
///   loss = - (1 - s) log p_t + s (lse - 1 / V sum_j x_j)
///   d x_j = scale ((1 - s) r (softmax_j - [j = t]) + s (softmax_j - 1 / V))
void CopyLossRow(OutputRow& row, float* x, int64_t classes) {
  const F32 d;
  const float largest = Largest(x, classes);
  const V32 shift = hn::Set(d, largest);
  const float all = row.smoothing > 0.0f ? Sum(classes, x) : 0.0f;
  const bool written = row.target < classes;
  const double at_target = written ? double{x[row.target]} : -std::numeric_limits<double>::infinity();
  const float sum = MapAndSum(x, classes, [=](V32 v) HWY_ATTR { return Exp(hn::Sub(v, shift)); });
  const double lse = double{largest} + exact::log(sum);
  const CopyMixture mix = mix_copy(row.gate, at_target - lse, row.mass);
  const double smoothing = row.smoothing, likelihood = 1.0 - smoothing, each = smoothing / static_cast<double>(classes);
  row.nll = static_cast<float>(-mix.log_p);
  row.loss = static_cast<float>(-likelihood * mix.log_p + (smoothing > 0.0 ? smoothing * lse - each * all : 0.0));
  row.correct = mix.log_p >= log_sigmoid(row.gate) + largest - lse;
  if (!row.gradient) return;
  const double scale = row.scale, share = likelihood * mix.written;
  const V32 factor = hn::Set(d, static_cast<float>(scale * (share + smoothing) / sum));
  const V32 minus = hn::Set(d, static_cast<float>(-scale * each));
  Map(x, classes, Of(x), [=](V32 v) HWY_ATTR { return hn::MulAdd(v, factor, minus); });
  if (written) x[row.target] -= static_cast<float>(scale * share);
  row.d_gate = static_cast<float>(scale * likelihood * mix.d_gate);
  row.d_mass = static_cast<float>(scale * likelihood * mix.d_mass);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
namespace {

HWY_EXPORT(OutputLossRow);
HWY_EXPORT(CopyLossRow);

// Rows whose logits exist at once. 256 x 10,000 logits are 10 MB: small beside the model's activations, large enough
// that the products run at full speed.
constexpr int64_t kBlock = 256;

struct OutputLayer {
  Tensor x, weight, bias;
  std::span<const int32_t> targets;
  OutputLossOptions options;
  CopyPart copy;

  int64_t rows() const { return x.rows(); }
  int64_t width() const { return x.cols(); }
  int64_t classes() const { return weight.rows(); }
  int32_t target(int64_t row) const { return targets[static_cast<size_t>(row)]; }
  float weight_of(int64_t row) const {
    return options.row_weights.empty() ? 1.0f : options.row_weights[static_cast<size_t>(row)];
  }
  /// The weight on the places of a row's target; each head has `share` of it.
  float mass_of(int64_t row) const {
    if (copy.head >= 0) return copy.mass.row(copy.head)[row];
    float sum = 0.0f;
    for (int64_t h = 0; h < copy.mass.rows(); ++h) sum += copy.mass.row(h)[row];
    return sum / static_cast<float>(copy.mass.rows());
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
  if (layer.copy.gate) {
    expect_shape("output_loss", "gate", layer.copy.gate, layer.rows(), 1);
    expect_there("output_loss", "mass", layer.copy.mass);
    expect(layer.copy.mass.cols() == layer.rows() && layer.copy.head < layer.copy.mass.rows(),
           "output_loss: the copied weight is [{}, {}], for {} rows and head {}", layer.copy.mass.rows(),
           layer.copy.mass.cols(), layer.rows(), layer.copy.head);
  }
  const float smoothing = layer.options.label_smoothing;
  expect(smoothing >= 0.0f && smoothing <= 1.0f, "output_loss: label smoothing {} is not in [0, 1]", smoothing);
  for (int64_t r = 0; r < layer.rows(); ++r)
    expect(layer.target(r) >= -1 && (layer.target(r) < classes || layer.copy.gate),
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
  float *d_gate, *d_mass;  // [n]
};

OutputGradients make_gradients(const OutputLayer& layer, Tape& tape) {
  const auto make = [&](Tensor of) { return of.needs_gradient() ? tape.keep<float>(of.size()) : nullptr; };
  OutputGradients g{make(layer.x), make(layer.weight), make(layer.bias), nullptr, nullptr};
  if (layer.copy.gate) g.d_gate = tape.keep<float>(layer.rows()), g.d_mass = tape.keep<float>(layer.rows());
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
      OutputRow& row = block.rows[r];
      row = {};
      row.target = target;
      row.smoothing = o.label_smoothing;
      row.scale = o.scale * weight;
      row.gradient = gradient;
      if (layer.copy.gate && target >= 0) {
        row.copies = true;
        row.gate = *layer.copy.gate.row(block.first + r);
        row.mass = layer.mass_of(block.first + r);
      }
      for (const int32_t never : o.never) block.logits[r * classes + never] = -std::numeric_limits<float>::infinity();
      if (row.copies)
        HWY_DYNAMIC_DISPATCH(CopyLossRow)(row, block.logits + r * classes, classes);
      else if (target >= 0)
        HWY_DYNAMIC_DISPATCH(OutputLossRow)(row, block.logits + r * classes, classes);
      else
        std::fill_n(block.logits + r * classes, classes, 0.0f);
      row.loss *= weight;
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
                       const OutputLossOptions& options, const CopyPart& copy) {
  const Timed timed(Work::output);
  const OutputLayer layer{x, weight, bias, targets, options, copy};
  check(layer);
  Tape& tape = x.tape();
  TapeArena& arena = tape.arena();
  const int64_t n = layer.rows();
  OutputLoss result;
  result.loss = tape.make_from(1, 1, x, weight, bias, copy.gate, copy.mass);
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
    for (int64_t r = 0; r < block.count && g.d_gate; ++r) {
      g.d_gate[first + r] = rows[r].d_gate;
      g.d_mass[first + r] = rows[r].d_mass;
    }
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
    give(copy.gate, g.d_gate);
    if (!g.d_mass) return;
    const int64_t heads = copy.mass.rows();
    const float share = factor / (copy.head < 0 ? static_cast<float>(heads) : 1.0f);
    add_gradient(copy.mass.sink(), copy.mass.size(),
                 [=](int64_t i) { return copy.head < 0 || copy.head == i / n ? share * g.d_mass[i % n] : 0.0f; });
  });
  return result;
}

}  // namespace heed
#endif
