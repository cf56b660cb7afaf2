// A small convolution over images whose cells are rows: [images * height * width, channels].
#pragma once

#include <cstdint>

#include "heed/tensor/tensor.h"

namespace heed {

struct ConvolutionShape {
  int64_t images = 1, height = 0, width = 0;
  int64_t kernel = 3, stride = 1, padding = 1;

  int64_t out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  int64_t out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
};

/// x [images * height * width, in], weight [out, kernel * kernel * in] (row, column, channel), bias [1, out] or empty
/// -> [images * out_height * out_width, out].
Tensor convolution(Tensor x, Tensor weight, Tensor bias, const ConvolutionShape& shape);

}  // namespace heed
