#include "heed/tensor/op/output_loss.h"

#include <memory>
#include <vector>

#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/cross_entropy.h"
#include "heed/tensor/op/linear.h"
#include "tests/tensor/gradient_check.h"
#include "tests/tensor/some_targets.h"

namespace heed::test {
namespace {

/// x W^T + b, of row r and class c.
double logit(const Matrices& in, int64_t r, int64_t c) {
  double sum = in.size() > 2 ? in[2](0, c) : 0.0;
  for (int64_t d = 0; d < in[0].cols; ++d) sum += in[0](r, d) * in[1](c, d);
  return sum;
}

struct Plain {
  double loss = 0.0, nll = 0.0;
  int64_t correct = 0, rows = 0;
  std::vector<double> row_nll;
};

Plain plain(const Matrices& in, const std::vector<int32_t>& targets, double smoothing,
            const std::vector<float>& weights = {}) {
  Plain p;
  const int64_t classes = in[1].rows;
  for (int64_t r = 0; r < in[0].rows; ++r) {
    const int32_t target = targets[static_cast<size_t>(r)];
    p.row_nll.push_back(0.0);
    if (target < 0) continue;
    double sum = 0.0;
    int64_t best = 0;
    for (int64_t c = 0; c < classes; ++c) {
      sum += std::exp(logit(in, r, c));
      if (logit(in, r, c) > logit(in, r, best)) best = c;
    }
    for (int64_t c = 0; c < classes; ++c) {
      const double log_p = logit(in, r, c) - std::log(sum);
      p.loss -= (weights.empty() ? 1.0 : double{weights[static_cast<size_t>(r)]}) *
                ((c == target ? 1.0 - smoothing : 0.0) + smoothing / static_cast<double>(classes)) * log_p;
      if (c == target) p.row_nll.back() = -log_p;
    }
    p.nll += p.row_nll.back();
    p.correct += best == target ? 1 : 0;
    ++p.rows;
  }
  return p;
}

void check(const Matrices& inputs, const std::vector<int32_t>& targets, const OutputLossOptions& options,
           const CheckOptions& how = {}) {
  check_gradients(
      inputs,
      [&](Tape&, const Tensors& in) -> Tensors {
        const auto copy = std::make_unique<std::vector<int32_t>>(targets);  // gone before the backward
        return {output_loss(in[0], in[1], in.size() > 2 ? in[2] : Tensor(), *copy, options).loss};
      },
      [&](const Matrices& in) -> Matrices {
        Matrix loss(1, 1);
        loss(0, 0) = double{options.scale} * plain(in, targets, double{options.label_smoothing}).loss;
        return {loss};
      },
      how);
}

TEST(OutputLoss, ValuesAndGradients) {
  struct Shape {
    int64_t rows, width, classes;
  };
  for (const auto& [n, width, classes] :
       std::vector<Shape>{{1, 1, 1}, {1, 5, 3}, {7, 3, 63}, {5, 8, 65}, {65, 2, 3}, {4, 7, 257}})
    for (const float smoothing : {0.0f, 0.1f, 1.0f})
      check({random(n, width), random(classes, width), random(1, classes)}, some_targets(n, classes),
            {.label_smoothing = smoothing, .scale = 0.25f});
}

TEST(OutputLoss, WeightsOfRows) {
  const std::vector<float> weights = {0.5f, 2.0f, 0.0f, 7.0f, 1.0f};
  const std::vector<int32_t> targets = some_targets(5, 3);
  const OutputLossOptions options{.label_smoothing = 0.1f, .scale = 0.25f, .row_weights = weights};
  check_gradients(
      {random(5, 4), random(3, 4), random(1, 3)},
      [&](Tape&, const Tensors& in) -> Tensors { return {output_loss(in[0], in[1], in[2], targets, options).loss}; },
      [&](const Matrices& in) -> Matrices {
        Matrix loss(1, 1);
        loss(0, 0) = 0.25 * plain(in, targets, double{0.1f}, weights).loss;
        return {loss};
      });
  // What is reported is not weighted.
  Tape tape;
  const Matrices in = {random(5, 4), random(3, 4)};
  const std::vector<float> x(in[0].values.begin(), in[0].values.end()), w(in[1].values.begin(), in[1].values.end());
  const OutputLoss loss = output_loss(tape.input(x.data(), 5, 4), tape.input(w.data(), 3, 4), {}, targets, options);
  EXPECT_NEAR(loss.negative_log_likelihood, plain(in, targets, 0).nll, 1e-5);
}

/// Classes without a chance: the loss is that of a layer which does not have them, and so are its gradients.
TEST(OutputLoss, ClassesWithoutAChance) {
  const std::vector<int32_t> never = {0, 3}, targets = {1, 2, 4, -1, 2, 1}, among_the_rest = {0, 1, 2, -1, 1, 0};
  const auto rest = [&](const Matrices& in) -> Matrices {
    Matrix weight(3, 4), bias(1, 3);
    for (int64_t to = 0; const int64_t from : {1, 2, 4}) {
      for (int64_t c = 0; c < 4; ++c) weight(to, c) = in[1](from, c);
      bias(0, to++) = in[2](0, from);
    }
    return {in[0], weight, bias};
  };
  check_gradients(
      {random(6, 4), random(5, 4), random(1, 5)},
      [&](Tape&, const Tensors& in) -> Tensors {
        return {output_loss(in[0], in[1], in[2], targets, {.scale = 0.25f, .never = never}).loss};
      },
      [&](const Matrices& in) -> Matrices {
        Matrix loss(1, 1);
        loss(0, 0) = 0.25 * plain(rest(in), among_the_rest, 0.0).loss;
        return {loss};
      });
  Tape tape;
  const Tensor x = tape.filled(1, 4, 0.5f), weight = tape.filled(5, 4, 0.5f);
  const std::vector<int32_t> one = {1};
  const auto refused = [&](const OutputLossOptions& o) { EXPECT_THROW(output_loss(x, weight, {}, one, o), Error); };
  const std::vector<int32_t> itself = {1}, missing = {5};
  refused({.never = itself});
  refused({.never = missing});
  refused({.label_smoothing = 0.1f, .never = never});
}

TEST(OutputLoss, WithoutBias) { check({random(6, 4), random(5, 4)}, some_targets(6, 5), {.label_smoothing = 0.1f}); }

TEST(OutputLoss, AroundTheBlock) {
  for (const int64_t n : {255, 256, 257, 512, 600})
    check({random(n, 3), random(4, 3), random(1, 4)}, some_targets(n, 4),
          {.label_smoothing = 0.1f, .scale = 1.0f / static_cast<float>(n)}, {.differences = 12});
}

TEST(OutputLoss, NoRowsGiveNoGradient) {
  check({random(0, 3), random(4, 3), random(1, 4)}, {}, {});
  check({random(3, 3), random(4, 3), random(1, 4)}, {-1, -1, -1}, {.label_smoothing = 0.1f});
}

/// Tied embeddings: the weight is also the table that x came from.
TEST(OutputLoss, WeightUsedTwice) {
  const std::vector<int32_t> targets = {2, 0, 1, -1};
  check_gradients(
      {random(4, 4)},
      [&](Tape&, const Tensors& in) -> Tensors {
        return {output_loss(scale(in[0], 0.5f), in[0], {}, targets, {.label_smoothing = 0.2f}).loss};
      },
      [&](const Matrices& in) -> Matrices {
        Matrix half = in[0], loss(1, 1);
        for (double& v : half.values) v *= 0.5;
        loss(0, 0) = plain({half, in[0]}, targets, double{0.2f}).loss;
        return {loss};
      });
}

TEST(OutputLoss, SaysWhatItSaw) {
  const int64_t n = 520, classes = 9;
  const Matrices in = {random(n, 5), random(classes, 5), random(1, classes)};
  const std::vector<int32_t> targets = some_targets(n, classes);
  const Plain right = plain(in, targets, 0.1);
  on_every_isa([&] {
    Tape tape({.recording = false, .training = false});
    std::vector<std::vector<float>> data;
    Tensors t;
    for (const Matrix& m : in) data.push_back(to_float(m));
    for (size_t i = 0; i < in.size(); ++i) t.push_back(tape.input(data[i].data(), in[i].rows, in[i].cols));
    const OutputLoss got = output_loss(t[0], t[1], t[2], targets, {.label_smoothing = 0.1f, .scale = 0.5f});
    EXPECT_NEAR(got.loss.item(), 0.5 * right.loss, 1e-6 * right.loss);
    EXPECT_NEAR(got.negative_log_likelihood, right.nll, 1e-6 * right.nll);
    EXPECT_EQ(got.correct, right.correct);
    EXPECT_EQ(got.rows, right.rows);
    ASSERT_EQ(got.row_nll.size(), static_cast<size_t>(n));
    for (size_t r = 0; r < right.row_nll.size(); ++r) ASSERT_NEAR(got.row_nll[r], right.row_nll[r], 1e-5) << r;
  });
  EXPECT_GT(right.correct, 0);
}

/// The plain composition of linear and cross_entropy.
TEST(OutputLoss, EqualsItsParts) {
  const std::vector<int32_t> targets = some_targets(20, 30);
  const Matrices inputs = {random(20, 6), random(30, 6), random(1, 30)}, weights = {random(1, 1)};
  const Outcome fused = run(
      [&](Tape&, const Tensors& in) -> Tensors {
        return {output_loss(in[0], in[1], in[2], targets, {.label_smoothing = 0.1f}).loss};
      },
      inputs, weights);
  const Outcome parts = run(
      [&](Tape&, const Tensors& in) -> Tensors { return {cross_entropy(linear(in[0], in[1], in[2]), targets, 0.1f)}; },
      inputs, weights);
  EXPECT_NEAR(fused.values[0][0], parts.values[0][0], 1e-4);
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t k = 0; k < fused.gradients[i].size(); ++k)
      ASSERT_NEAR(fused.gradients[i][k], parts.gradients[i][k], 1e-5) << "input " << i << ", element " << k;
}

TEST(OutputLoss, HugeLogits) {
  const std::vector<float> x = {1e4f, -1e4f}, w = {1.0f, 0.0f, 0.0f, 1.0f};
  const std::vector<int32_t> targets = {0};
  on_every_isa([&] {
    Tape tape;
    const Tensor rows = tape.input(x.data(), 1, 2, true), weight = tape.input(w.data(), 2, 2, true);
    const OutputLoss loss = output_loss(rows, weight, {}, targets);
    EXPECT_EQ(loss.loss.item(), 0.0f);
    EXPECT_EQ(loss.correct, 1);
    tape.backward(loss.loss);
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(weight.gradient()[i], 0.0f, 1e-3);
  });
}

TEST(OutputLoss, AnyNumberOfThreads) {
  const std::vector<int32_t> targets = some_targets(600, 301);
  check_threads({random(600, 32), random(301, 32), random(1, 301)}, [&](Tape&, const Tensors& in) -> Tensors {
    return {output_loss(in[0], in[1], in[2], targets, {.label_smoothing = 0.1f}).loss};
  });
}

TEST(OutputLoss, Errors) {
  Tape tape;
  const Tensor x = tape.filled(3, 4, 1.0f), w = tape.filled(5, 4, 1.0f), b = tape.filled(1, 5, 0.0f);
  const std::vector<int32_t> few = {0, 1}, high = {0, 5, 1}, low = {0, 1, -2}, good = {0, 1, 2};
  expect_error([&] { output_loss({}, w, b, good); }, "output_loss: x is empty");
  expect_error([&] { output_loss(x, tape.filled(5, 3, 1.0f), b, good); },
               "output_loss: x has 4 columns, weight [5, 3] needs 3");
  expect_error([&] { output_loss(x, w, tape.filled(1, 4, 0.0f), good); },
               "output_loss: bias is [1, 4], expected [1, 5]");
  expect_error([&] { output_loss(x, w, b, few); }, "output_loss: 2 targets for 3 rows");
  expect_error([&] { output_loss(x, w, b, high); }, "output_loss: the target of row 1 is 5, but there are 5 classes");
  expect_error([&] { output_loss(x, w, b, low); }, "output_loss: the target of row 2 is -2, but there are 5 classes");
  expect_error([&] { output_loss(x, w, b, good, {.label_smoothing = 1.5f}); },
               "output_loss: label smoothing 1.5 is not in [0, 1]");
}

}  // namespace
}  // namespace heed::test
