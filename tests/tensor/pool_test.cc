#include "heed/tensor/op/pool.h"

#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

Matrix means(const Matrix& x, const std::vector<int64_t>& offsets) {
  Matrix y(std::ssize(offsets) - 1, x.cols);
  for (int64_t b = 0; b < y.rows; ++b)
    for (int64_t i = offsets[static_cast<size_t>(b)]; i < offsets[static_cast<size_t>(b) + 1]; ++i)
      for (int64_t c = 0; c < x.cols; ++c)
        y(b, c) += x(i, c) / static_cast<double>(offsets[static_cast<size_t>(b) + 1] - offsets[static_cast<size_t>(b)]);
  return y;
}

TEST(Pool, MeanOfSequences) {
  for (const std::vector<int64_t>& offsets : {std::vector<int64_t>{0, 1}, {0, 3, 3, 10}, {0, 0}, {0, 65, 66, 130, 387}})
    for (const int64_t width : {1, 7, 65})
      check_gradients(
          {random(offsets.back(), width)},
          [&](Tape& tape, const Tensors& in) -> Tensors {
            return {mean_of_sequences({in[0], tape.offsets(offsets)})};
          },
          [&](const Matrices& in) -> Matrices { return {means(in[0], offsets)}; });
}

Matrix maxima(const Matrix& x, const std::vector<int64_t>& offsets) {
  Matrix y(std::ssize(offsets) - 1, x.cols);
  for (int64_t b = 0; b < y.rows; ++b)
    for (int64_t c = 0; c < x.cols; ++c) {
      const int64_t begin = offsets[static_cast<size_t>(b)], end = offsets[static_cast<size_t>(b) + 1];
      for (int64_t i = begin; i < end; ++i) y(b, c) = i == begin ? x(i, c) : std::max(y(b, c), x(i, c));
    }
  return y;
}

TEST(Pool, MaxOfSequences) {
  for (const std::vector<int64_t>& offsets : {std::vector<int64_t>{0, 1}, {0, 3, 3, 10}, {0, 0}, {0, 65, 66, 130, 387}})
    for (const int64_t width : {1, 7, 65})
      check_gradients(
          {random(offsets.back(), width)},
          [&](Tape& tape, const Tensors& in) -> Tensors {
            return {max_of_sequences({in[0], tape.offsets(offsets)})};
          },
          [&](const Matrices& in) -> Matrices { return {maxima(in[0], offsets)}; });
}

TEST(Pool, AnyNumberOfThreads) {
  const std::vector<int64_t> offsets = {0, 100, 101, 900, 2000};
  check_threads({random(2000, 129)}, [&](Tape& tape, const Tensors& in) -> Tensors {
    return {max_of_sequences({in[0], tape.offsets(offsets)})};
  });
  check_threads({random(2000, 129)}, [&](Tape& tape, const Tensors& in) -> Tensors {
    return {mean_of_sequences({in[0], tape.offsets(offsets)})};
  });
}

TEST(Pool, Errors) {
  expect_error([] { mean_of_sequences({}); }, "mean_of_sequences: x is empty");
  Tape tape;
  const std::vector<int64_t> offsets = {0, 2};
  expect_error(
      [&] {
        mean_of_sequences({tape.filled(3, 2, 0.0f), tape.offsets(offsets)});
      },
      "mean_of_sequences: 3 rows, but the offsets cover 2");
}

}  // namespace
}  // namespace heed::test
