#include "heed/tensor/op/convolution.h"

#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

struct ConvolutionCase {
  ConvolutionShape shape;
  int64_t in, out;
};

const ConvolutionCase kCases[] = {
    {{.images = 2, .height = 5, .width = 7}, 3, 4},
    {{.images = 1, .height = 7, .width = 6, .kernel = 3, .stride = 2, .padding = 0}, 2, 5},
    {{.images = 3, .height = 4, .width = 3, .kernel = 1, .stride = 1, .padding = 0}, 7, 3},
    {{.images = 2, .height = 1, .width = 9, .kernel = 5, .stride = 3, .padding = 2}, 1, 1},
    {{.images = 0, .height = 4, .width = 4}, 2, 2},
    {{.images = 1, .height = 2, .width = 2, .kernel = 2, .stride = 1, .padding = 3}, 2, 2},
};

Matrix reference(const Matrices& in, const ConvolutionShape& s, bool with_bias) {
  const Matrix &x = in[0], &w = in[1];
  const int64_t channels = x.cols, cells = s.out_height() * s.out_width();
  return make_matrix(s.images * cells, w.rows, [&](int64_t row, int64_t o) {
    const int64_t image = row / cells, oy = row % cells / s.out_width(), ox = row % s.out_width();
    double sum = with_bias ? in[2](0, o) : 0.0;
    for (int64_t ky = 0; ky < s.kernel; ++ky)
      for (int64_t kx = 0; kx < s.kernel; ++kx) {
        const int64_t y = oy * s.stride - s.padding + ky, xx = ox * s.stride - s.padding + kx;
        if (y < 0 || y >= s.height || xx < 0 || xx >= s.width) continue;
        for (int64_t c = 0; c < channels; ++c)
          sum += x((image * s.height + y) * s.width + xx, c) * w(o, (ky * s.kernel + kx) * channels + c);
      }
    return sum;
  });
}

TEST(Convolution, ValuesAndGradients) {
  for (const ConvolutionCase& c : kCases) {
    const ConvolutionShape& s = c.shape;
    const Matrix x = random(s.images * s.height * s.width, c.in);
    const Matrix w = random(c.out, s.kernel * s.kernel * c.in);
    check_gradients(
        {x, w, random(1, c.out)},
        [&](Tape&, const Tensors& in) -> Tensors { return {convolution(in[0], in[1], in[2], s)}; },
        [&](const Matrices& in) -> Matrices { return {reference(in, s, true)}; });
    check_gradients(
        {x, w}, [&](Tape&, const Tensors& in) -> Tensors { return {convolution(in[0], in[1], {}, s)}; },
        [&](const Matrices& in) -> Matrices { return {reference(in, s, false)}; });
  }
}

TEST(Convolution, Stacked) {
  const ConvolutionShape s{.images = 2, .height = 4, .width = 5};
  check_gradients(
      {random(40, 3), random(3, 27, 0.3)},
      [&](Tape&, const Tensors& in) -> Tensors {
        return {convolution(convolution(in[0], in[1], {}, s), in[1], {}, s)};
      },
      [&](const Matrices& in) -> Matrices {
        return {reference({reference(in, s, false), in[1]}, s, false)};
      });
}

TEST(Convolution, ManyImages) {
  // More patches than are made at a time (2^20 numbers), so that the gradient of the weight is a sum over groups.
  const ConvolutionShape s{.images = 5, .height = 40, .width = 40};
  const Matrices in = {random(5 * 1600, 32), random(8, 9 * 32, 0.1), random(1, 8)};
  const Operation f = [&](Tape&, const Tensors& t) -> Tensors { return {convolution(t[0], t[1], t[2], s)}; };
  const Matrix weights = random(5 * 1600, 8);
  const Outcome all = run(f, in, {weights});
  // The same, image by image.
  std::vector<double> d_w(8 * 9 * 32, 0.0);
  for (int64_t image = 0; image < 5; ++image) {
    Matrix x(1600, 32), g(1600, 8);
    std::copy_n(in[0].values.begin() + image * 1600 * 32, 1600 * 32, x.values.begin());
    std::copy_n(weights.values.begin() + image * 1600 * 8, 1600 * 8, g.values.begin());
    ConvolutionShape one = s;
    one.images = 1;
    const Outcome part = run([&](Tape&, const Tensors& t) -> Tensors { return {convolution(t[0], t[1], t[2], one)}; },
                             {x, in[1], in[2]}, {g});
    for (size_t i = 0; i < part.values[0].size(); ++i)
      ASSERT_NEAR(part.values[0][i], all.values[0][static_cast<size_t>(image) * 1600 * 8 + i], 1e-4);
    for (size_t i = 0; i < part.gradients[0].size(); ++i)
      ASSERT_NEAR(part.gradients[0][i], all.gradients[0][static_cast<size_t>(image) * 1600 * 32 + i], 1e-4);
    for (size_t i = 0; i < d_w.size(); ++i) d_w[i] += part.gradients[1][i];
  }
  for (size_t i = 0; i < d_w.size(); ++i) ASSERT_NEAR(all.gradients[1][i], d_w[i], 1e-3 + 1e-4 * std::abs(d_w[i]));
}

TEST(Convolution, AnyNumberOfThreads) {
  const ConvolutionShape s{.images = 3, .height = 30, .width = 20};
  check_threads({random(1800, 16), random(24, 9 * 16), random(1, 24)},
                [&](Tape&, const Tensors& in) -> Tensors { return {convolution(in[0], in[1], in[2], s)}; });
}

TEST(Convolution, Errors) {
  Tape tape;
  const Tensor x = tape.filled(12, 2, 1.0f), w = tape.filled(5, 18, 1.0f);
  const ConvolutionShape s{.images = 1, .height = 3, .width = 4};
  ConvolutionShape other = s;
  other.width = 5;
  expect_error([&] { convolution(x, w, {}, other); }, "convolution: x has 12 rows, 1 images of [3, 5] have 15");
  expect_error([&] { convolution(x, tape.filled(5, 17, 1.0f), {}, s); },
               "convolution: weight is [5, 17], a kernel of 3 over 2 channels needs 18 columns");
  expect_error([&] { convolution(x, w, x, s); }, "convolution: bias is [12, 2], expected [1, 5]");
  other = s;
  other.kernel = 7;
  expect_error([&] { convolution(x, w, {}, other); },
               "convolution: a kernel of 7 does not fit into [3, 4] with a padding of 1");
  other.stride = 0;
  expect_error([&] { convolution(x, w, {}, other); },
               "convolution: invalid sizes: 1 images of [3, 4], kernel 7, stride 0, padding 1");
}

}  // namespace
}  // namespace heed::test
