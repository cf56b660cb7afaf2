#include "heed/tensor/op/linear.h"

#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

struct LinearSizes {
  int64_t n, in, out;
};
const LinearSizes kSizes[] = {{0, 3, 4},  {1, 1, 1},    {7, 5, 3}, {1, 63, 65},
                              {65, 7, 1}, {17, 33, 20}, {5, 0, 3}, {3, 4, 0}};

Matrix linear_reference(const Matrix& x, const Matrix& w, const Matrix* bias) {
  return make_matrix(x.rows, w.rows, [&](int64_t r, int64_t o) {
    double sum = bias ? (*bias)(0, o) : 0.0;
    for (int64_t i = 0; i < x.cols; ++i) sum += x(r, i) * w(o, i);
    return sum;
  });
}

Matrix matmul_reference(const Matrix& a, const Matrix& b) {
  return make_matrix(a.rows, b.cols, [&](int64_t r, int64_t c) {
    double sum = 0.0;
    for (int64_t i = 0; i < a.cols; ++i) sum += a(r, i) * b(i, c);
    return sum;
  });
}

TEST(Linear, WithAndWithoutBias) {
  for (const auto& [n, in_width, out_width] : kSizes) {
    check_gradients(
        {random(n, in_width), random(out_width, in_width, 0.3), random(1, out_width)},
        [](Tape&, const Tensors& in) -> Tensors { return {linear(in[0], in[1], in[2])}; },
        [](const Matrices& in) -> Matrices { return {linear_reference(in[0], in[1], &in[2])}; });
    check_gradients(
        {random(n, in_width), random(out_width, in_width, 0.3)},
        [](Tape&, const Tensors& in) -> Tensors { return {linear(in[0], in[1])}; },
        [](const Matrices& in) -> Matrices { return {linear_reference(in[0], in[1], nullptr)}; });
  }
}

TEST(Linear, OneWeightTwice) {
  check_gradients(
      {random(7, 20), random(20, 20, 0.3), random(1, 20)},
      [](Tape&, const Tensors& in) -> Tensors {
        return {linear(linear(in[0], in[1], in[2]), in[1], in[2]), linear(in[1], in[1])};
      },
      [](const Matrices& in) -> Matrices {
        const Matrix once = linear_reference(in[0], in[1], &in[2]);
        return {linear_reference(once, in[1], &in[2]), linear_reference(in[1], in[1], nullptr)};
      });
}

TEST(Linear, Matmul) {
  for (const auto& [n, k, m] : kSizes)
    check_gradients(
        {random(n, k), random(k, m, 0.3)}, [](Tape&, const Tensors& in) -> Tensors { return {matmul(in[0], in[1])}; },
        [](const Matrices& in) -> Matrices { return {matmul_reference(in[0], in[1])}; });
  check_gradients(
      {random(9, 9)}, [](Tape&, const Tensors& in) -> Tensors { return {matmul(in[0], in[0])}; },
      [](const Matrices& in) -> Matrices { return {matmul_reference(in[0], in[0])}; });
}

TEST(Linear, AnyNumberOfThreads) {
  check_threads({random(530, 65), random(700, 65), random(1, 700), random(700, 33)},
                [](Tape&, const Tensors& in) -> Tensors {
                  const Tensor y = linear(in[0], in[1], in[2]);
                  return {y, matmul(y, in[3])};
                });
}

TEST(Linear, Errors) {
  Tape tape;
  const Tensor x = tape.filled(2, 5, 1.0f), w = tape.filled(8, 4, 1.0f);
  expect_error([&] { linear(x, w); }, "linear: x has 5 columns, weight [8, 4] needs 4");
  expect_error([&] { linear(tape.filled(2, 4, 1.0f), w, x); }, "linear: bias is [2, 5], expected [1, 8]");
  expect_error([&] { linear(x, Tensor()); }, "linear: weight is empty");
  expect_error([&] { matmul(x, w); }, "matmul: cannot multiply [2, 5] by [8, 4]: 5 columns, but 8 rows");
}

}  // namespace
}  // namespace heed::test
