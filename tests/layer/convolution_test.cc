#include "heed/layer/convolution.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/tensor/op/activation.h"
#include "tests/layer/check_layer.h"

namespace heed::test {
namespace {

struct Grid {
  Matrix cells;
  int64_t count, height, width;
};

Grid convolve(const Grid& x, const Weights& w, const std::string& prefix, const ConvolutionOptions& o) {
  Grid y{{},
         x.count,
         (x.height + 2 * o.padding - o.kernel) / o.stride + 1,
         (x.width + 2 * o.padding - o.kernel) / o.stride + 1};
  const Matrix& weight = w.at(prefix + "weight");
  y.cells = make_matrix(y.count * y.height * y.width, o.out, [&](int64_t cell, int64_t out) {
    const int64_t image = cell / (y.height * y.width), row = cell / y.width % y.height, col = cell % y.width;
    double sum = o.bias ? w.at(prefix + "bias")(0, out) : 0.0;
    for (int64_t i = 0; i < o.kernel; ++i)
      for (int64_t j = 0; j < o.kernel; ++j) {
        const int64_t r = row * o.stride + i - o.padding, c = col * o.stride + j - o.padding;
        if (r < 0 || r >= x.height || c < 0 || c >= x.width) continue;
        for (int64_t in = 0; in < o.in; ++in)
          sum += x.cells((image * x.height + r) * x.width + c, in) * weight(out, (i * o.kernel + j) * o.in + in);
      }
    return sum;
  });
  return y;
}

TEST(Convolution, TwoInARow) {
  for (const bool bias : {true, false}) {
    Parameters all(3);
    const ConvolutionOptions first{.in = 2, .out = 3, .kernel = 3, .stride = 2, .padding = 1, .bias = bias};
    const ConvolutionOptions second{.in = 3, .out = 2, .kernel = 2, .stride = 1, .padding = 0, .bias = bias};
    const Convolution a(Scope(all) / "a", first), b(Scope(all) / "b", second);
    EXPECT_EQ(names(all), bias ? (std::vector<std::string>{"a.weight", "a.bias", "b.weight", "b.bias"})
                               : (std::vector<std::string>{"a.weight", "b.weight"}));
    scatter(all);
    check_layer({&all,
                 {random(2 * 5 * 6, 2)},
                 [&](Tape&, const Tensors& x) {
                   const Images hidden = a({x[0], 2, 5, 6});
                   EXPECT_EQ(hidden.height, 3);
                   EXPECT_EQ(hidden.width, 3);
                   const Images out = b({tanh(hidden.cells), hidden.count, hidden.height, hidden.width});
                   EXPECT_EQ(out.count, 2);
                   EXPECT_EQ(out.height, 2);
                   EXPECT_EQ(out.width, 2);
                   return Tensors{out.cells};
                 },
                 [&](const Weights& w, const Matrices& x) {
                   Grid hidden = convolve({x[0], 2, 5, 6}, w, "a.", first);
                   for (double& value : hidden.cells.values) value = std::tanh(value);
                   return Matrices{convolve(hidden, w, "b.", second).cells};
                 }});
  }
}

TEST(Convolution, RefusesWhatCannotBe) {
  Parameters all(3);
  EXPECT_THROW(Convolution(all, {.in = 0, .out = 1}), Error);
  EXPECT_THROW(Convolution(all, {.in = 1, .out = 1, .kernel = 0}), Error);
  EXPECT_THROW(Convolution(all, {.in = 1, .out = 1, .stride = 0}), Error);
  EXPECT_THROW(Convolution(all, {.in = 1, .out = 1, .padding = -1}), Error);
}

}  // namespace
}  // namespace heed::test
