// The kernel of products for inference, per instruction set: blocks of rows and columns whose sums stay in registers.
// Forward only.
//
// What differs from the product of the attention loop (kernels/simd/gemm-inl.h): the right side stands in panels, sums
// begin with a bias, and few rows take more columns at once. Whatever the block, a number's chain of multiply-adds is
// the same.
#if defined(HEED_TENSOR_ROW_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_TENSOR_ROW_BLOCK_INL_H_
#undef HEED_TENSOR_ROW_BLOCK_INL_H_
#else
#define HEED_TENSOR_ROW_BLOCK_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "heed/kernels/simd/gemm-inl.h"
#include "heed/tensor/packed_weight.h"
#include "hwy/highway.h"

#ifndef HEED_TENSOR_ROW_BLOCK_ONCE_
#define HEED_TENSOR_ROW_BLOCK_ONCE_
namespace heed {
/// Rows and panels of one task.
struct ProductPart {
  int64_t row, row_end, panel, panel_end;
};
}  // namespace heed
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace heed::kernels::HWY_NAMESPACE;  // NOLINT: the vectors and functions of the kernels

inline constexpr size_t kPanelWidth = PackedWeight::kPanel;
inline constexpr int kPanelVecs = static_cast<int>(kPanelWidth / kLanes);
inline constexpr int kMostRows = kManyRegisters ? 12 : 6;

/// Rows of panels, [in, 32], that form a group: 256 KB.
inline constexpr int64_t kGroupRows = 2048;

/// Rows of a panel that are asked for ahead.
inline constexpr size_t kAhead = 16;

/// Vectors of columns that a block of so many rows takes at once. A multiply-add's result is there after four cycles,
/// and two start in each: eight sums at least must be under way.
constexpr int BlockVecs(int rows) { return rows == 1 ? 8 : rows <= 3 ? 4 : 2; }

struct RowBlock {
  const float* x;
  size_t x_stride, depth;
  const float* w;      // the first panel
  const float* start;  // of its sums: the bias, or zeros; null: zeros
  float* y;
  size_t y_stride;
};

/// kRows rows of kPanels panels, in each kVecs vectors from column `col` on.
template <int kRows, int kVecs, int kPanels>
HWY_INLINE void SumBlock(const RowBlock& block, size_t col) {
  const F32 d;
  constexpr int kAll = kVecs * kPanels;
  const auto at = [](int v) HWY_ATTR { return static_cast<size_t>(v / kVecs) * kPanelWidth + v % kVecs * kLanes; };
  V32 acc[kRows][kAll];
#pragma GCC unroll 8
  for (int v = 0; v < kAll; ++v) {
    const V32 start = block.start ? hn::LoadU(d, block.start + col + at(v)) : hn::Zero(d);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) acc[r][v] = start;
  }
  // Three rows share a base pointer, as in kernels/simd/gemm-inl.h.
  constexpr int kBases = (kRows + 2) / 3;
  const size_t row = block.x_stride, depth = block.depth;
  const float* base[kBases];
#pragma GCC unroll 4
  for (int i = 0; i < kBases; ++i) {
    base[i] = block.x + 3 * i * row;
    asm("" : "+r"(base[i]));
  }
  // The results' lines come while the sums are made.
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kAll; ++v) __builtin_prefetch(block.y + r * block.y_stride + col + at(v), 1, 3);
  const float* w[kPanels];
#pragma GCC unroll 4
  for (int q = 0; q < kPanels; ++q) w[q] = block.w + q * depth * kPanelWidth + col;
  for (size_t p = 0; p < depth; ++p) {
    // The weight on its way from the second-level cache or beyond. Small blocks have no load to spare for that.
    if constexpr (kRows > kMostRows / 2)
#pragma GCC unroll 8
      for (size_t line = 0; line < kVecs * kLanes; line += 16)
        __builtin_prefetch(w[0] + kAhead * kPanelWidth + line, 0, 3);
    V32 right[kAll];
#pragma GCC unroll 8
    for (int v = 0; v < kAll; ++v) right[v] = hn::Load(d, w[v / kVecs] + v % kVecs * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const V32 left = hn::Set(d, base[r / 3][(r % 3) * row]);
#pragma GCC unroll 8
      for (int v = 0; v < kAll; ++v) acc[r][v] = hn::MulAdd(left, right[v], acc[r][v]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < kBases; ++i) ++base[i];
#pragma GCC unroll 4
    for (int q = 0; q < kPanels; ++q) w[q] += kPanelWidth;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kAll; ++v) hn::StoreU(acc[r][v], d, block.y + r * block.y_stride + col + at(v));
}

/// kRows rows of `panels` whole panels.
template <int kRows>
void RunBlock(RowBlock block, size_t panels) {
  constexpr int kVecs = std::min(BlockVecs(kRows), kPanelVecs);
  const auto advance = [&](size_t count) HWY_ATTR {
    block.w += count * block.depth * kPanelWidth;
    if (block.start) block.start += count * kPanelWidth;
    block.y += count * kPanelWidth;
    panels -= count;
  };
  constexpr int kTogether = BlockVecs(kRows) / kVecs;  // panels
  if constexpr (kTogether > 1)
    while (panels >= kTogether) {
      SumBlock<kRows, kVecs, kTogether>(block, 0);
      advance(kTogether);
    }
  while (panels > 0) {
    for (size_t col = 0; col < kPanelWidth; col += kVecs * kLanes) SumBlock<kRows, kVecs, 1>(block, col);
    advance(1);
  }
}

template <int... kRows>
HWY_INLINE void RunBlockOf(int64_t rows, const RowBlock& block, size_t panels, std::integer_sequence<int, kRows...>) {
  using Run = void (*)(RowBlock, size_t);
  static constexpr Run kRuns[] = {RunBlock<kRows + 1>...};
  kRuns[rows - 1](block, panels);
}

/// A last panel that is not full goes through memory of its own.
HWY_INLINE void RunPartialPanel(int64_t rows, RowBlock block, size_t cols) {
  HWY_ALIGN float start[kPanelWidth] = {}, sums[kMostRows * kPanelWidth];
  if (block.start) std::copy_n(block.start, cols, start);
  float* y = block.y;
  block.start = start;
  block.y = sums;
  const size_t y_stride = std::exchange(block.y_stride, kPanelWidth);
  RunBlockOf(rows, block, 1, std::make_integer_sequence<int, kMostRows>());
  for (int64_t r = 0; r < rows; ++r)
    std::copy_n(sums + static_cast<size_t>(r) * kPanelWidth, cols, y + static_cast<size_t>(r) * y_stride);
}

void MultiplyPart(const PackedWeight& weight, const RowProduct& product, const ProductPart& part) {
  const int64_t in = weight.in(), out = weight.out(), whole = std::min(part.panel_end, out / PackedWeight::kPanel);
  const int64_t rows = part.row_end - part.row, blocks = (rows + kMostRows - 1) / kMostRows;
  const auto run = [&](int64_t panel, int64_t panels) HWY_ATTR {
    const int64_t col = panel * PackedWeight::kPanel;
    // Blocks of rows that differ by one at most: 7 and 6 rather than 12 and 1.
    for (int64_t b = 0; b < blocks; ++b) {
      const int64_t first = part.row + rows * b / blocks, count = part.row + rows * (b + 1) / blocks - first;
      const RowBlock block{.x = product.x + first * in,
                           .x_stride = static_cast<size_t>(in),
                           .depth = static_cast<size_t>(in),
                           .w = weight.panel(panel),
                           .start = product.bias ? product.bias + col : nullptr,
                           .y = product.y + first * out + col,
                           .y_stride = static_cast<size_t>(out)};
      if (panels > 0)
        RunBlockOf(count, block, static_cast<size_t>(panels), std::make_integer_sequence<int, kMostRows>());
      else
        RunPartialPanel(count, block, static_cast<size_t>(out - col));
    }
  };
  // A group of panels stays in the second-level cache while all rows pass; where one block holds them all, panels just
  // pass.
  const int64_t step = blocks == 1 ? whole - part.panel : std::max<int64_t>(1, kGroupRows / std::max<int64_t>(1, in));
  for (int64_t p = part.panel; p < whole; p += step) run(p, std::min(step, whole - p));
  if (whole < part.panel_end) run(whole, 0);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
