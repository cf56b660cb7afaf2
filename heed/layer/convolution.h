// A convolution over images, with its weights.
#pragma once

#include <cstdint>

#include "heed/layer/parameters.h"
#include "heed/tensor/op/convolution.h"
#include "heed/tensor/tape.h"

namespace heed {

/// Images of one size. Each cell is a row, so anything that works on rows (norms, linear layers, attention) works on
/// cells.
struct Images {
  Tensor cells;  // [count * height * width, channels]
  int64_t count = 0, height = 0, width = 0;
};

struct ConvolutionOptions {
  int64_t in = 0, out = 0;  // channels
  int64_t kernel = 3, stride = 1, padding = 1;
  bool bias = true;
};

/// "weight" [out, kernel * kernel * in], Xavier uniform; "bias" [out], zero.
struct Convolution {
  Parameter* weight = nullptr;
  Parameter* bias = nullptr;  // null: none
  ConvolutionOptions options;

  Convolution() = default;
  Convolution(const Scope& scope, const ConvolutionOptions& options);

  /// x of `in` channels -> `out` channels; height -> (height + 2 padding - kernel) / stride + 1, and the same for the
  /// width.
  Images operator()(const Images& x) const;
};

}  // namespace heed
