#include "heed/tensor/op/cross_entropy.h"

#include <memory>
#include <vector>

#include "heed/tensor/op/arithmetic.h"
#include "tests/tensor/gradient_check.h"
#include "tests/tensor/some_targets.h"

namespace heed::test {
namespace {

Matrix reference(const Matrix& x, const std::vector<int32_t>& targets, double smoothing) {
  Matrix loss(1, 1);
  for (int64_t r = 0; r < x.rows; ++r) {
    const int32_t target = targets[static_cast<size_t>(r)];
    if (target < 0) continue;
    double sum = 0.0;
    for (int64_t c = 0; c < x.cols; ++c) sum += std::exp(x(r, c));
    for (int64_t c = 0; c < x.cols; ++c) {
      const double wanted = (c == target ? 1.0 - smoothing : 0.0) + smoothing / static_cast<double>(x.cols);
      loss.values[0] -= wanted * (x(r, c) - std::log(sum));
    }
  }
  return loss;
}

TEST(CrossEntropy, ValuesAndGradients) {
  for (const auto& [n, classes] : {std::pair<int64_t, int64_t>{0, 3}, {1, 1}, {7, 63}, {5, 65}, {65, 3}, {4, 257}})
    for (const float smoothing : {0.0f, 0.1f, 1.0f}) {
      const std::vector<int32_t> targets = some_targets(n, classes);
      check_gradients(
          {random(n, classes, 2.0)},
          [&](Tape&, const Tensors& in) -> Tensors {
            const auto copy = std::make_unique<std::vector<int32_t>>(targets);  // gone before the backward
            return {cross_entropy(in[0], *copy, smoothing)};
          },
          [&](const Matrices& in) -> Matrices { return {reference(in[0], targets, double{smoothing})}; });
    }
}

TEST(CrossEntropy, LogitsUsedTwice) {
  const std::vector<int32_t> targets = {0, 3, -1};
  check_gradients(
      {random(3, 5)},
      [&](Tape&, const Tensors& in) -> Tensors {
        return {scale(cross_entropy(in[0], targets), 0.25f), cross_entropy(in[0], targets, 0.2f)};
      },
      [&](const Matrices& in) -> Matrices {
        Matrix quarter = reference(in[0], targets, 0.0);
        quarter.values[0] *= 0.25;
        return {quarter, reference(in[0], targets, double{0.2f})};
      });
}

TEST(CrossEntropy, HugeLogits) {
  const std::vector<float> x = {1e30f, -1e30f, 0.0f, 3e4f, 3e4f, -3e4f};
  const std::vector<int32_t> targets = {0, 1};
  on_every_isa([&] {
    Tape tape;
    const Tensor logits = tape.input(x.data(), 2, 3, true);
    const Tensor loss = cross_entropy(logits, targets);
    EXPECT_NEAR(loss.item(), std::log(2.0), 4e-3);  // 30000.69 in float32
    tape.backward(loss);
    const std::vector<float> expected = {0.0f, 0.0f, 0.0f, 0.5f, -0.5f, 0.0f};
    for (int i = 0; i < 6; ++i) EXPECT_NEAR(logits.gradient()[i], expected[i], 2e-3) << i;
  });
}

TEST(CrossEntropy, AnyNumberOfThreads) {
  const std::vector<int32_t> targets = some_targets(203, 501);
  check_threads({random(203, 501)},
                [&](Tape&, const Tensors& in) -> Tensors { return {cross_entropy(in[0], targets, 0.1f)}; });
}

TEST(CrossEntropy, Errors) {
  Tape tape;
  const Tensor x = tape.filled(3, 4, 1.0f);
  const std::vector<int32_t> few = {0, 1}, high = {0, 4, 1}, low = {0, 1, -2}, good = {0, 1, 2};
  expect_error([&] { cross_entropy(x, few); }, "cross_entropy: 2 targets for 3 rows of logits");
  expect_error([&] { cross_entropy(x, high); }, "cross_entropy: the target of row 1 is 4, but there are 4 classes");
  expect_error([&] { cross_entropy(x, low); }, "cross_entropy: the target of row 2 is -2, but there are 4 classes");
  expect_error([&] { cross_entropy(x, good, 1.5f); }, "cross_entropy: label smoothing 1.5 is not in [0, 1]");
}

}  // namespace
}  // namespace heed::test
