// As one matrix product: every output cell gets a row with the kernel * kernel * in numbers it sees (0 outside the
// image), times the weight. The rows are made for some images at a time, so that they stay small.
#include "heed/tensor/op/convolution.h"

#include <algorithm>

#include "heed/tensor/gradient.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/tape.h"
#include "heed/tensor/weight_product.h"

namespace heed {

namespace {

constexpr int64_t kPatchElements = 1 << 20;  // of the rows that exist at a time

void check(Tensor x, Tensor weight, Tensor bias, const ConvolutionShape& s) {
  expect_there("convolution", "x", x);
  expect_there("convolution", "weight", weight);
  expect(s.images >= 0 && s.height >= 0 && s.width >= 0 && s.kernel > 0 && s.stride > 0 && s.padding >= 0,
         "convolution: invalid sizes: {} images of [{}, {}], kernel {}, stride {}, padding {}", s.images, s.height,
         s.width, s.kernel, s.stride, s.padding);
  expect(s.height + 2 * s.padding >= s.kernel && s.width + 2 * s.padding >= s.kernel,
         "convolution: a kernel of {} does not fit into [{}, {}] with a padding of {}", s.kernel, s.height, s.width,
         s.padding);
  expect(x.rows() == s.images * s.height * s.width, "convolution: x has {} rows, {} images of [{}, {}] have {}",
         x.rows(), s.images, s.height, s.width, s.images * s.height * s.width);
  expect(weight.cols() == s.kernel * s.kernel * x.cols(),
         "convolution: weight is [{}, {}], a kernel of {} over {} channels needs {} columns", weight.rows(),
         weight.cols(), s.kernel, x.cols(), s.kernel * s.kernel * x.cols());
  if (bias) expect_shape("convolution", "bias", bias, 1, weight.rows());
}

/// The cell of an image that a place of the kernel sees from an output cell; -1 outside.
int64_t seen(const ConvolutionShape& s, int64_t out_cell, int64_t kernel_cell) {
  const int64_t y = out_cell / s.out_width() * s.stride - s.padding + kernel_cell / s.kernel;
  const int64_t x = out_cell % s.out_width() * s.stride - s.padding + kernel_cell % s.kernel;
  return y >= 0 && y < s.height && x >= 0 && x < s.width ? y * s.width + x : -1;
}

struct Patches {
  ConvolutionShape shape;
  int64_t in;      // channels
  int64_t cells;   // of an output
  int64_t width;   // of a patch: kernel * kernel * in
  int64_t images;  // at a time

  Patches(const ConvolutionShape& s, int64_t channels)
      : shape(s),
        in(channels),
        cells(s.out_height() * s.out_width()),
        width(s.kernel * s.kernel * channels),
        images(std::max<int64_t>(1, kPatchElements / std::max<int64_t>(1, cells * width))) {}

  int64_t image_size() const { return shape.height * shape.width * in; }
  int64_t elements() const { return std::min(images, shape.images) * cells * width; }

  /// f(first image, count) for every group of images
  template <class F>
  void each_group(const F& f) const {
    for (int64_t i = 0; i < shape.images; i += images) f(i, std::min(images, shape.images - i));
  }

  void read(const float* x, int64_t count, float* patches) const {
    for_pieces(count * cells, width, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const float* image = x + r / cells * image_size();
        float* to = patches + r * width;
        for (int64_t k = 0; k < shape.kernel * shape.kernel; ++k, to += in) {
          const int64_t from = seen(shape, r % cells, k);
          if (from >= 0)
            std::copy_n(image + from * in, in, to);
          else
            std::fill_n(to, in, 0.0f);
        }
      }
    });
  }

  /// x += what read() would have taken from there. Patches overlap inside an image, so a thread takes whole images.
  void add_back(const float* patches, int64_t count, float* x) const {
    for_pieces(count, cells * width, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin * cells; r < end * cells; ++r) {
        float* image = x + r / cells * image_size();
        const float* from = patches + r * width;
        for (int64_t k = 0; k < shape.kernel * shape.kernel; ++k, from += in)
          if (const int64_t to = seen(shape, r % cells, k); to >= 0)
            for (int64_t c = 0; c < in; ++c) image[to * in + c] += from[c];
      }
    });
  }
};

void backward(const Patches& patches, Tensor x, Tensor weight, const float* d_y) {
  const int64_t out = weight.rows();
  TapeArena& arena = x.tape().arena();
  GradientSink d_x = x.sink();
  GradientSink d_w = weight.sink();
  clear_if_fresh(d_x, x.size());
  clear_if_fresh(d_w, weight.size());
  float* rows = arena.take_array<float>(patches.elements());
  const WeightProduct back(weight, WeightOrder::in_out);
  patches.each_group([&](int64_t first, int64_t count) {
    const float* g = d_y + first * patches.cells * out;
    if (d_w) {  // d_W = d_y^T patches
      patches.read(x.data() + first * patches.image_size(), count, rows);
      multiply({.rows = count * patches.cells,
                .left = g,
                .left_cols = out,
                .right = rows,
                .right_cols = patches.width,
                .sum = d_w});
    }
    if (d_x) {  // d_patches = d_y W
      back({.rows = count * patches.cells, .x = g, .y = rows});
      patches.add_back(rows, count, d_x.data + first * patches.image_size());
    }
  });
  arena.give(rows);
}

}  // namespace

Tensor convolution(Tensor x, Tensor weight, Tensor bias, const ConvolutionShape& shape) {
  check(x, weight, bias, shape);
  Tape& tape = x.tape();
  const Patches patches(shape, x.cols());
  const int64_t out = weight.rows();
  Tensor y = tape.make_from(shape.images * patches.cells, out, x, weight, bias);
  const WeightProduct product(weight);
  float* rows = tape.arena().take_array<float>(patches.elements());
  patches.each_group([&](int64_t first, int64_t count) {
    patches.read(x.data() + first * patches.image_size(), count, rows);
    product({.rows = count * patches.cells,
             .x = rows,
             .bias = bias ? bias.data() : nullptr,
             .y = y.row(first * patches.cells)});
  });
  tape.arena().give(rows);
  tape.on_backward([=] {
    backward(patches, x, weight, y.gradient());
    add_column_sums(bias.sink(), {y.gradient(), y.rows(), out});
  });
  return y;
}

}  // namespace heed
