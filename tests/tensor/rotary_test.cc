#include "heed/tensor/op/rotary.h"

#include "heed/tensor/op/arithmetic.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

Matrix turned(const Matrix& x, const std::vector<int64_t>& positions, int64_t heads) {
  Matrix y = x;
  const int64_t width = x.cols / heads, even = width - width % 2;
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < even; i += 2) {
        const int64_t c = h * width + i;
        const double angle = static_cast<double>(positions[static_cast<size_t>(r)]) *
                             std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(even));
        y(r, c) = x(r, c) * std::cos(angle) - x(r, c + 1) * std::sin(angle);
        y(r, c + 1) = x(r, c) * std::sin(angle) + x(r, c + 1) * std::cos(angle);
      }
  return y;
}

/// Not in order, some twice, not from 0.
std::vector<int64_t> some_positions(int64_t rows) {
  std::vector<int64_t> positions;
  for (int64_t r = 0; r < rows; ++r) positions.push_back(3 + r * 7 % 11);
  return positions;
}

TEST(Rotary, ValuesAndGradients) {
  struct Shape {
    int64_t rows, heads, width;
  };
  for (const Shape& shape :
       std::vector<Shape>{{0, 1, 4}, {1, 1, 2}, {3, 1, 1}, {7, 1, 63}, {5, 2, 4}, {4, 3, 5}, {9, 4, 16}, {257, 1, 8}}) {
    const int64_t rows = shape.rows, heads = shape.heads, width = shape.width;
    const std::vector<int64_t> positions = some_positions(rows);
    check_gradients(
        {random(rows, heads * width)},
        [&](Tape& tape, const Tensors& in) -> Tensors {
          return {rotate(in[0], tape.keep(std::span<const int64_t>(positions)), {.heads = heads})};
        },
        [&](const Matrices& in) -> Matrices { return {turned(in[0], positions, heads)}; });
  }
}

/// As in transformers' Llama: x cos + (-second half, first half) sin, and another base.
TEST(Rotary, HalvesAndBase) {
  const int64_t heads = 2, width = 6;
  const std::vector<int64_t> positions = some_positions(5);
  check_gradients(
      {random(5, heads * width)},
      [&](Tape&, const Tensors& in) -> Tensors {
        return {rotate(in[0], positions.data(), {.heads = heads, .base = 500.0, .halves = true})};
      },
      [&](const Matrices& in) -> Matrices {
        return {make_matrix(5, heads * width, [&](int64_t r, int64_t c) {
          const int64_t column = c % width, half = width / 2;
          const double angle = static_cast<double>(positions[static_cast<size_t>(r)]) *
                               std::pow(500.0, -2.0 * static_cast<double>(column % half) / static_cast<double>(width));
          const double other = column < half ? -in[0](r, c + half) : in[0](r, c - half);
          return in[0](r, c) * std::cos(angle) + other * std::sin(angle);
        })};
      });
}

TEST(Rotary, ARowUsedTwice) {
  const std::vector<int64_t> here = {0, 1, 2}, there = {5, 5, 9};
  check_gradients(
      {random(3, 6)},
      [&](Tape&, const Tensors& in) -> Tensors {
        return {rotate(in[0], here.data()), rotate(in[0], there.data()), scale(in[0], 2.0f)};
      },
      [&](const Matrices& in) -> Matrices {
        Matrix twice = in[0];
        for (double& v : twice.values) v *= 2.0;
        return {turned(in[0], here, 1), turned(in[0], there, 1), twice};
      });
}

/// What it is for: the product of two rows knows how far apart they stand, and nothing else of where.
TEST(Rotary, ProductsDependOnTheDistanceAlone) {
  const std::vector<float> x = to_float(random(2, 16));
  const auto product = [&](int64_t i, int64_t j) {
    Tape tape({.recording = false, .training = false});
    const std::vector<int64_t> positions = {i, j};
    const Tensor y = rotate(tape.input(x.data(), 2, 16), positions.data());
    double sum = 0.0;
    for (int64_t c = 0; c < 16; ++c) sum += static_cast<double>(y.row(0)[c]) * y.row(1)[c];
    return sum;
  };
  for (const int64_t shift : {1, 10, 1000}) {
    EXPECT_NEAR(product(2 + shift, 5 + shift), product(2, 5), 1e-5) << shift;
    EXPECT_NEAR(product(shift, shift), product(0, 0), 1e-5) << shift;
  }
  EXPECT_GT(std::abs(product(2, 5) - product(2, 9)), 1e-3);
  EXPECT_GT(std::abs(product(2, 5) - product(5, 2)), 1e-3);
}

TEST(Rotary, AnyNumberOfThreads) {
  const std::vector<int64_t> positions = some_positions(700);
  check_threads({random(700, 128)},
                [&](Tape&, const Tensors& in) -> Tensors { return {rotate(in[0], positions.data(), {.heads = 4})}; });
}

TEST(Rotary, Errors) {
  Tape tape;
  const Tensor x = tape.filled(2, 6, 1.0f);
  const std::vector<int64_t> good = {0, 1}, low = {0, -1};
  expect_error([&] { rotate({}, good.data()); }, "rotate: x is empty");
  expect_error([&] { rotate(x, good.data(), {.heads = 4}); }, "rotate: 6 columns cannot be split into 4 heads");
  expect_error([&] { rotate(x, low.data()); }, "rotate: the position -1 is below 0");
  expect_error([&] { rotate(x, good.data(), {.base = 1.0}); }, "rotate: the base must be above 1, not 1");
}

}  // namespace
}  // namespace heed::test
