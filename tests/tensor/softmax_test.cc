#include "heed/tensor/op/softmax.h"

#include <limits>

#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

Matrix softmax_reference(const Matrix& x) {
  Matrix y(x.rows, x.cols);
  for (int64_t r = 0; r < x.rows; ++r) {
    double sum = 0.0;
    for (int64_t c = 0; c < x.cols; ++c) sum += std::exp(x(r, c));
    for (int64_t c = 0; c < x.cols; ++c) y(r, c) = std::exp(x(r, c)) / sum;
  }
  return y;
}

TEST(Softmax, Rows) {
  for (const auto& [n, d] : {std::pair<int64_t, int64_t>{0, 7}, {1, 1}, {7, 63}, {3, 65}, {65, 2}, {2, 200}})
    check_gradients(
        {random(n, d, 2.0)}, [](Tape&, const Tensors& in) -> Tensors { return {softmax_rows(in[0])}; },
        [](const Matrices& in) -> Matrices { return {softmax_reference(in[0])}; });
  check_gradients(
      {random(4, 9)},
      [](Tape&, const Tensors& in) -> Tensors {
        return {softmax_rows(in[0]), softmax_rows(in[0])};
      },
      [](const Matrices& in) -> Matrices {
        return {softmax_reference(in[0]), softmax_reference(in[0])};
      });
}

TEST(Softmax, HugeAndHidden) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {1e30f, 1e30f, -1e30f, -inf, 0.0f, -inf, -inf, -inf, -inf};
  const std::vector<float> expected = {0.5f, 0.5f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 0.0f};
  on_every_isa([&] {
    Tape tape;
    const Tensor in = tape.input(x.data(), 3, 3, true);
    const Tensor y = softmax_rows(in);
    EXPECT_EQ(copy_of(y.data(), 9), expected);
    tape.seed_gradient(y, expected.data());
    tape.run();
    EXPECT_EQ(copy_of(in.gradient(), 9), std::vector<float>(9, 0.0f));
  });
}

TEST(Softmax, AnyNumberOfThreads) {
  check_threads({random(501, 337)}, [](Tape&, const Tensors& in) -> Tensors { return {softmax_rows(in[0])}; });
}

TEST(Softmax, Errors) {
  expect_error([] { softmax_rows(Tensor()); }, "softmax_rows: x is empty");
}

}  // namespace
}  // namespace heed::test
