#include "heed/tensor/op/windows.h"

#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

Matrix plain_windows(const Matrix& x, const std::vector<int64_t>& offsets, int64_t width) {
  Matrix y(x.rows, width * x.cols);
  for (size_t b = 0; b + 1 < offsets.size(); ++b)
    for (int64_t i = offsets[b]; i < offsets[b + 1]; ++i)
      for (int64_t k = 0; k < width; ++k)
        for (int64_t c = 0; c < x.cols; ++c) {
          const int64_t from = i - width / 2 + k;
          y(i, k * x.cols + c) = from < offsets[b] || from >= offsets[b + 1] ? 0 : x(from, c);
        }
  return y;
}

TEST(Windows, ValuesAndGradients) {
  for (const std::vector<int64_t>& offsets : {std::vector<int64_t>{0, 1}, {0, 3, 3, 10}, {0, 0}, {0, 65, 66, 130}})
    for (const int64_t width : {1, 2, 3, 5, 9})
      for (const int64_t cols : {1, 7})
        check_gradients(
            {random(offsets.back(), cols)},
            [&](Tape& tape, const Tensors& in) -> Tensors {
              return {windows({in[0], tape.offsets(offsets)}, width)};
            },
            [&](const Matrices& in) -> Matrices { return {plain_windows(in[0], offsets, width)}; });
}

TEST(Windows, Mistakes) {
  Tape tape;
  const std::vector<float> x(6);
  const std::vector<int64_t> offsets = {0, 2}, short_ones = {0, 3};
  EXPECT_THROW(windows({tape.input(x.data(), 2, 3), tape.offsets(offsets)}, 0), Error);
  EXPECT_THROW(windows({tape.input(x.data(), 2, 3), tape.offsets(short_ones)}, 3), Error);
}

}  // namespace
}  // namespace heed::test
