// What the kernels of int8 products read (int8.cc).
#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/tensor/product_parts.h"

namespace heed {

/// A weight: panels of 32 columns, [panels, quads, 32, 4]; what is padded is zeros.
struct Int8View {
  const int8_t* data;
  const float* scales;    // of a column, [panels, 32]
  const int32_t* starts;  // of the sum of a column, where rows are stored plus 128: -128 times its integers
  int64_t out, quads;

  int64_t panel_bytes() const { return quads * 4 * kPanel; }
  const int8_t* panel(int64_t p) const { return data + p * panel_bytes(); }
};

/// Rows as integers, each with its scale: bytes plus 128, or words of 16 bits, as the kernel wants them.
struct Int8Rows {
  void* numbers;
  float* scales;
  int64_t stride;     // numbers from one row to the next; what is padded is zeros
  int64_t first = 0;  // the row of the product that stands first here
};

/// The sums of a block of rows and panels.
struct QuadBlock {
  const void* rows;
  size_t row_stride;
  const float* row_scales;
  size_t quads;
  const int8_t* w;  // the first panel
  size_t w_stride;
  const int32_t* starts;
  const float* scales;
  const float* bias;  // or null
  bool add;           // to the contents of y
  float* y;
  size_t y_stride;
  size_t cols;  // that exist, of all panels
};

/// Bytes that a row's numbers have, one for one: whether the instructions for four products at once are used.
enum class QuadDots { of_cpu, never, always };
/// For tests, which compare the bits: `always` where this CPU can, also with an instruction set that does not have it.
void use_quad_dots(QuadDots which);
/// Whether int8 products use them now.
bool quad_dots();

}  // namespace heed
