#include "heed/tensor/op/arithmetic.h"

#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

const std::vector<std::pair<int64_t, int64_t>> kShapes = {{0, 7}, {1, 1}, {1, 65}, {7, 63}, {65, 1}, {3, 17}};

Matrix each(const Matrix& a, const Matrix& b, double (*f)(double, double)) {
  return make_matrix(a.rows, a.cols, [&](int64_t r, int64_t c) { return f(a(r, c), b(r, c)); });
}

TEST(Arithmetic, Add) {
  for (const auto& [n, d] : kShapes)
    check_gradients(
        {random(n, d), random(n, d)}, [](Tape&, const Tensors& in) -> Tensors { return {add(in[0], in[1])}; },
        [](const Matrices& in) -> Matrices { return {each(in[0], in[1], [](double a, double b) { return a + b; })}; });
}

TEST(Arithmetic, Subtract) {
  for (const auto& [n, d] : kShapes)
    check_gradients(
        {random(n, d), random(n, d)}, [](Tape&, const Tensors& in) -> Tensors { return {subtract(in[0], in[1])}; },
        [](const Matrices& in) -> Matrices { return {each(in[0], in[1], [](double a, double b) { return a - b; })}; });
}

TEST(Arithmetic, Multiply) {
  for (const auto& [n, d] : kShapes)
    check_gradients(
        {random(n, d), random(n, d)}, [](Tape&, const Tensors& in) -> Tensors { return {multiply(in[0], in[1])}; },
        [](const Matrices& in) -> Matrices { return {each(in[0], in[1], [](double a, double b) { return a * b; })}; });
}

TEST(Arithmetic, TheSameTensorTwice) {
  // x + x, x - x, x * x, with x both a leaf and the result of an operation; and x read again by an operation made
  // before
  check_gradients(
      {random(5, 9)},
      [](Tape&, const Tensors& in) -> Tensors {
        const Tensor y = scale(in[0], 2.0f);
        return {add(in[0], in[0]), subtract(y, y), multiply(in[0], in[0]), multiply(y, y), add(y, y), add(y, in[0])};
      },
      [](const Matrices& in) -> Matrices {
        const auto of = [&](double (*f)(double)) {
          return make_matrix(5, 9, [&](int64_t r, int64_t c) { return f(in[0](r, c)); });
        };
        return {of([](double x) { return x + x; }), of([](double) { return 0.0; }),
                of([](double x) { return x * x; }), of([](double x) { return 4 * x * x; }),
                of([](double x) { return 4 * x; }), of([](double x) { return 3 * x; })};
      });
}

TEST(Arithmetic, ChainOfSums) {
  // The gradient's memory is handed on from sum to sum; a tensor that is used on the way must still get its own part.
  check_gradients(
      {random(4, 6), random(4, 6), random(4, 6)},
      [](Tape&, const Tensors& in) -> Tensors {
        const Tensor a = add(scale(in[0], 1.5f), in[1]);
        const Tensor b = add(a, in[2]);
        return {add(b, a), b};
      },
      [](const Matrices& in) -> Matrices {
        const auto a = [&](int64_t r, int64_t c) { return 1.5 * in[0](r, c) + in[1](r, c); };
        const auto b = [&](int64_t r, int64_t c) { return a(r, c) + in[2](r, c); };
        return {make_matrix(4, 6, [&](int64_t r, int64_t c) { return a(r, c) + b(r, c); }), make_matrix(4, 6, b)};
      });
}

TEST(Arithmetic, Scale) {
  for (const auto& [n, d] : kShapes) {
    check_gradients(
        {random(n, d)}, [](Tape&, const Tensors& in) -> Tensors { return {scale(in[0], -0.7f)}; },
        [](const Matrices& in) -> Matrices {
          return {
              make_matrix(in[0].rows, in[0].cols, [&](int64_t r, int64_t c) { return double{-0.7f} * in[0](r, c); })};
        });
    check_gradients(
        {random(n, d), random(1, 1)}, [](Tape&, const Tensors& in) -> Tensors { return {scale(in[0], in[1])}; },
        [](const Matrices& in) -> Matrices {
          return {make_matrix(in[0].rows, in[0].cols, [&](int64_t r, int64_t c) { return in[1](0, 0) * in[0](r, c); })};
        });
  }
}

TEST(Arithmetic, AddRow) {
  for (const auto& [n, d] : kShapes)
    check_gradients(
        {random(n, d), random(1, d)}, [](Tape&, const Tensors& in) -> Tensors { return {add_row(in[0], in[1])}; },
        [](const Matrices& in) -> Matrices {
          return {make_matrix(in[0].rows, in[0].cols, [&](int64_t r, int64_t c) { return in[0](r, c) + in[1](0, c); })};
        });
}

TEST(Arithmetic, ScaleRows) {
  static const std::vector<float> numbers = to_float(random(1, 100));
  for (const auto& [n, d] : kShapes) {
    check_gradients(
        {random(n, d), random(n, 1)}, [](Tape&, const Tensors& in) -> Tensors { return {scale_rows(in[0], in[1])}; },
        [](const Matrices& in) -> Matrices {
          return {make_matrix(in[0].rows, in[0].cols, [&](int64_t r, int64_t c) { return in[0](r, c) * in[1](r, 0); })};
        });
    check_gradients(
        {random(n, d)}, [](Tape&, const Tensors& in) -> Tensors { return {scale_rows(in[0], numbers.data())}; },
        [](const Matrices& in) -> Matrices {
          return {make_matrix(in[0].rows, in[0].cols, [&](int64_t r, int64_t c) { return in[0](r, c) * numbers[r]; })};
        });
  }
}

TEST(Arithmetic, AnyNumberOfThreads) {
  check_threads({random(300, 333), random(300, 333), random(1, 333), random(300, 1), random(1, 1)},
                [](Tape&, const Tensors& in) -> Tensors {
                  const Tensor sum = add_row(multiply(in[0], subtract(in[0], in[1])), in[2]);
                  return {scale(scale_rows(sum, in[3]), in[4]), add(scale(in[0], 3.0f), in[1])};
                });
}

TEST(Arithmetic, Errors) {
  Tape tape;
  const Tensor a = tape.filled(2, 3, 1.0f), b = tape.filled(3, 2, 1.0f);
  expect_error([&] { add(a, b); }, "add: [2, 3] and [3, 2] must have the same shape");
  expect_error([&] { subtract(a, b); }, "subtract: [2, 3] and [3, 2] must have the same shape");
  expect_error([&] { multiply(a, Tensor()); }, "multiply: the second tensor is empty");
  expect_error([&] { scale(a, b); }, "scale: the factor is [3, 2], expected [1, 1]");
  expect_error([&] { add_row(a, b); }, "add_row: the row is [3, 2], expected [1, 3]");
  expect_error([&] { scale_rows(a, b); }, "scale_rows: the factor is [3, 2], expected [2, 1]");
}

}  // namespace
}  // namespace heed::test
