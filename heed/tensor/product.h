// The two matrix products that everything above the kernels uses: rows times a weight (every forward, and the gradient
// of the rows), and the gradient of a weight.
//
// Every number of a result is one chain, start + x_0 w_0 + x_1 w_1 + ..., by multiply-adds in that order, whatever
// block of rows and columns it belongs to. So a row has the same bits whatever the other rows and its position, in
// training and in inference, and for any number of threads.
#pragma once

#include <cstdint>

#include "heed/tensor/packed_weight.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// y [rows, out] = x [rows, in] W^T + bias
struct RowProduct {
  int64_t rows = 0;
  const float* x = nullptr;
  const float* bias = nullptr;  // [out], or null for none
  float* y = nullptr;
  bool add = false;  // to the contents of y, instead of a bias
};

void multiply(const PackedWeight& weight, const RowProduct& product);

/// sum [left_cols, right_cols] = left [rows, left_cols]^T right [rows, right_cols]: d_W = d_y^T x
struct GradientProduct {
  int64_t rows = 0;
  const float* left = nullptr;
  int64_t left_cols = 0;
  const float* right = nullptr;
  int64_t right_cols = 0;
  GradientSink sum;                 // null: not requested, and `right` is not read
  GradientSink left_sum = {};       // of the columns of `left`, [left_cols]: the gradient of a bias
  int64_t left_stride = left_cols;  // numbers from one row to the next
  int64_t right_stride = right_cols;
};

void multiply(const GradientProduct& product);

}  // namespace heed
