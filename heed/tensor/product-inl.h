// The kernel of the products, per instruction set: blocks of rows and columns whose sums stay in registers.
//
// What differs from the product of the attention loop (kernels/simd/gemm-inl.h): the right operand is stored in panels,
// sums start from a bias or the existing value, and few rows take more columns at once. Whatever the block, a number's
// chain of multiply-adds is the same.
#if defined(HEED_TENSOR_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_TENSOR_PRODUCT_INL_H_
#undef HEED_TENSOR_PRODUCT_INL_H_
#else
#define HEED_TENSOR_PRODUCT_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "heed/base/dtype.h"
#include "heed/kernels/simd/rows-inl.h"
#include "heed/kernels/simd/vector-inl.h"
#include "heed/tensor/format/panels.h"
#include "heed/tensor/product_parts.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace heed::kernels::HWY_NAMESPACE;  // NOLINT: the vectors and functions of the kernels

inline constexpr size_t kPanelWidth = kPanel;
inline constexpr int kPanelVecs = static_cast<int>(kPanelWidth / kLanes);
inline constexpr int kMostRows = kManyRegisters ? 12 : 6;

/// Rows of panels, [depth, 32], that form a group: 256 KB.
inline constexpr int64_t kGroupRows = 2048;

/// Rows of a panel that are prefetched.
inline constexpr size_t kAhead = 16;

/// Vectors of columns that a block of this many rows takes at once. A multiply-add takes four cycles, and two start in
/// each: at least eight sums must be in flight.
constexpr int BlockVecs(int rows) { return rows == 1 ? 8 : rows <= 3 ? 4 : 2; }

/// Rows of a matrix that will be needed soon. Their cache lines are prefetched a few at a time during the sums: all at
/// once they would stall everything else.
class RowsAhead {
 public:
  /// `steps`: how often ask() will be called.
  RowsAhead(const float* at, int64_t stride, int64_t rows, int64_t width, int64_t steps)
      : at_(at), end_(at + std::max<int64_t>(rows, 0) * stride), stride_(stride), width_(width) {
    const int64_t lines = rows * ((width + kLine - 1) / kLine);
    at_once_ = (lines + steps - 1) / steps;
  }
  HWY_INLINE void ask() {
    for (int64_t n = at_once_; n > 0 && at_ < end_; --n) {
      __builtin_prefetch(at_ + std::min(col_ + kLine, width_) - 1, 0, 2);
      col_ += kLine;
      if (col_ < width_) continue;
      col_ = 0;
      at_ += stride_;
    }
  }

 private:
  static constexpr int64_t kLine = 16;
  const float* at_;
  const float* end_;
  int64_t stride_, width_, at_once_;
  int64_t col_ = 0;
};

/// A vector of a panel's numbers as float32, and a single one.
HWY_INLINE V32 LoadWeights(const float* at) { return hn::Load(F32(), at); }
HWY_INLINE float WeightAt(const float* at) { return *at; }
/// bfloat16
HWY_INLINE V32 LoadWeights(const uint16_t* at) {
  const hn::Rebind<uint16_t, F32> halves;
  return hn::BitCast(F32(), hn::ShiftLeft<16>(hn::PromoteTo(U32(), hn::Load(halves, at))));
}
HWY_INLINE float WeightAt(const uint16_t* at) { return float_of_bf16(*at); }

/// `Number`: what the panels are made of.
template <class Number>
struct RowBlock {
  const float* x;
  size_t x_stride;  // from row to row, or for columns (see SumBlock) from term to term
  size_t depth;
  const Number* w;     // the first panel
  size_t w_stride;     // from panel to panel
  const float* start;  // of its sums: the bias; null: zeros
  bool add;            // or the contents of y
  float* y;
  size_t y_stride;
  const float* next;  // the results that will be needed after these
  RowsAhead* ahead;   // of the left side
};

/// kRows rows of kPanels panels, in each kVecs vectors starting at column `col`. kColumns: x is stored with its rows
/// side by side, [depth, x_stride].
template <int kRows, int kVecs, int kPanels, bool kColumns, class Number>
HWY_INLINE void SumBlock(const RowBlock<Number>& block, size_t col) {
  const F32 d;
  constexpr int kAll = kVecs * kPanels;
  const auto at = [](int v) HWY_ATTR { return static_cast<size_t>(v / kVecs) * kPanelWidth + v % kVecs * kLanes; };
  V32 acc[kRows][kAll];
  if (block.add) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < kAll; ++v) acc[r][v] = hn::LoadU(d, block.y + r * block.y_stride + col + at(v));
  } else {
#pragma GCC unroll 8
    for (int v = 0; v < kAll; ++v) {
      const V32 start = block.start ? hn::LoadU(d, block.start + col + at(v)) : hn::Zero(d);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) acc[r][v] = start;
    }
  }
  // Three rows share a base pointer, as in kernels/simd/gemm-inl.h.
  constexpr int kBases = kColumns ? 1 : (kRows + 2) / 3;
  const size_t row = block.x_stride, depth = block.depth;
  const float* base[kBases];
#pragma GCC unroll 4
  for (int i = 0; i < kBases; ++i) {
    base[i] = block.x + 3 * i * row;
    asm("" : "+r"(base[i]));
  }
  const Number* w[kPanels];
#pragma GCC unroll 4
  for (int q = 0; q < kPanels; ++q) w[q] = block.w + q * block.w_stride + col;
  const auto steps = [&](size_t count) HWY_ATTR {
    for (size_t p = 0; p < count; ++p) {
      // Prefetches the weight from the L2 cache or beyond. Small blocks have no load slot to spare for that.
      if constexpr (kRows > kMostRows / 2)
#pragma GCC unroll 8
        for (size_t line = 0; line < kVecs * kLanes; line += 64 / sizeof(Number))
          __builtin_prefetch(w[0] + kAhead * kPanelWidth + line, 0, 3);
      V32 right[kAll];
#pragma GCC unroll 8
      for (int v = 0; v < kAll; ++v) right[v] = LoadWeights(w[v / kVecs] + v % kVecs * kLanes);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const V32 left = hn::Set(d, kColumns ? base[0][r] : base[r / 3][(r % 3) * row]);
#pragma GCC unroll 8
        for (int v = 0; v < kAll; ++v) acc[r][v] = hn::MulAdd(left, right[v], acc[r][v]);
      }
#pragma GCC unroll 4
      for (int i = 0; i < kBases; ++i) base[i] += kColumns ? row : 1;
#pragma GCC unroll 4
      for (int q = 0; q < kPanels; ++q) w[q] += kPanelWidth;
    }
  };
  // The lines of the next results are prefetched a row at a time: all at once they would delay the weight.
  size_t left_over = depth;
  const float* next = block.next + col;
  for (int r = 0; r < kRows; ++r, next += block.y_stride) {
#pragma GCC unroll 8
    for (int v = 0; v < kAll; ++v) __builtin_prefetch(next + at(v), 1, 3);
    const size_t count = r + 1 < kRows ? depth / kRows : left_over;
    block.ahead->ask();
    steps(count);
    left_over -= count;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kAll; ++v) hn::StoreU(acc[r][v], d, block.y + r * block.y_stride + col + at(v));
}

/// kRows rows of one whole panel.
template <int kRows, bool kColumns, class Number>
void RunPanel(const RowBlock<Number>& block) {
  constexpr int kVecs = std::min(BlockVecs(kRows), kPanelVecs);
  for (size_t col = 0; col < kPanelWidth; col += kVecs * kLanes) SumBlock<kRows, kVecs, 1, kColumns>(block, col);
}

/// kRows rows of `panels` whole panels.
template <int kRows, class Number>
void RunBlock(RowBlock<Number> block, size_t panels) {
  constexpr int kVecs = std::min(BlockVecs(kRows), kPanelVecs);
  const float* after = block.y + kRows * block.y_stride;
  block.next = block.y + kPanelWidth;
  const auto advance = [&](size_t count) HWY_ATTR {
    block.w += count * block.w_stride;
    if (block.start) block.start += count * kPanelWidth;
    block.y += count * kPanelWidth;
    panels -= count;
    block.next = panels > 1 ? block.y + kPanelWidth : after;
  };
  constexpr int kTogether = BlockVecs(kRows) / kVecs;  // panels
  if constexpr (kTogether > 1)
    while (panels >= kTogether) {
      SumBlock<kRows, kVecs, kTogether, false>(block, 0);
      advance(kTogether);
    }
  while (panels > 0) {  // NOLINT(bugprone-infinite-loop): advance() counts them down
    RunPanel<kRows, false>(block);
    advance(1);
  }
}

template <class Number, int... kRows>
HWY_INLINE void RunBlockOf(int64_t rows, const RowBlock<Number>& block, size_t panels,
                           std::integer_sequence<int, kRows...>) {
  using Run = void (*)(RowBlock<Number>, size_t);
  static constexpr Run kRuns[] = {RunBlock<kRows + 1, Number>...};
  kRuns[rows - 1](block, panels);
}

/// One panel of which only `cols` columns and `rows` rows exist goes through separate memory. run(block)
template <class Number, class Run>
HWY_INLINE void RunPartialPanel(int64_t rows, RowBlock<Number> block, size_t cols, const Run& run) {
  HWY_ALIGN float start[kPanelWidth] = {}, sums[kMostRows * kPanelWidth] = {};
  if (block.start) std::copy_n(block.start, cols, start);
  float* y = block.y;
  const size_t y_stride = std::exchange(block.y_stride, kPanelWidth);
  if (block.add)
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(y + static_cast<size_t>(r) * y_stride, cols, sums + static_cast<size_t>(r) * kPanelWidth);
  block.start = start;
  block.y = sums;
  run(block);
  for (int64_t r = 0; r < rows; ++r)
    std::copy_n(sums + static_cast<size_t>(r) * kPanelWidth, cols, y + static_cast<size_t>(r) * y_stride);
}

/// f(first, count) for pieces of [0, total) that differ by one at most, none longer than `most`; at least one piece.
template <class F>
HWY_INLINE void ForEvenPieces(int64_t total, int64_t most, const F& f) {
  const int64_t pieces = std::max<int64_t>(1, (total + most - 1) / most);
  for (int64_t n = 0; n < pieces; ++n) {
    const int64_t first = total * n / pieces;
    f(first, total * (n + 1) / pieces - first);
  }
}

/// A weight of one column, as in self_scored: in a panel 31 of 32 columns would be wasted. Eight rows at a time, each
/// its own chain in one lane, so that the bits are those of a panel.
template <class Number>
void MultiplyOneColumn(const PanelsView<Number>& weight, const RowProduct& product, const ProductTile& tile) {
  const hn::CappedTag<float, 1> one;
  constexpr int64_t kRows = 8;
  const size_t in = static_cast<size_t>(weight.in);
  for (int64_t row = tile.row; row < tile.row_end; row += kRows) {
    const int64_t count = std::min(kRows, tile.row_end - row);
    const float* x[kRows];
    hn::VFromD<decltype(one)> sum[kRows];
#pragma GCC unroll 8
    for (int64_t r = 0; r < kRows; ++r) {
      const int64_t at = row + std::min(r, count - 1);  // what is left over computes the last row again
      x[r] = product.x + at * weight.in;
      sum[r] = hn::Set(one, product.add ? product.y[at] : product.bias ? product.bias[0] : 0.0f);
    }
    const Number* w = weight.panel(0);
    for (size_t p = 0; p < in; ++p, w += kPanelWidth) {
      const auto weight_p = hn::Set(one, WeightAt(w));
#pragma GCC unroll 8
      for (int64_t r = 0; r < kRows; ++r) sum[r] = hn::MulAdd(hn::LoadU(one, x[r] + p), weight_p, sum[r]);
    }
    for (int64_t r = 0; r < count; ++r) product.y[row + r] = hn::GetLane(sum[r]);
  }
}

template <class Number>
void MultiplyTile(const PanelsView<Number>& weight, const RowProduct& product, const ProductTile& tile) {
  if (weight.out == 1) return MultiplyOneColumn(weight, product, tile);
  const int64_t in = weight.in, out = weight.out, whole = std::min(tile.panel_end, out / kPanel);
  const int64_t rows = tile.row_end - tile.row;
  // One block of rows passes all panels. With more, a group of panels stays in the L2 cache while all rows pass, and is
  // no deeper than what the rows can keep in the L1 cache.
  const bool few = rows <= kMostRows;
  const int64_t depth_step = few ? std::max<int64_t>(1, in) : kWeightDepth;
  const int64_t group = few ? std::max<int64_t>(1, whole)
                            : std::max<int64_t>(1, kGroupRows / std::min(std::max<int64_t>(1, in), depth_step));
  const auto run = [&](int64_t panel, int64_t panels) HWY_ATTR {
    const int64_t col = panel * kPanel;
    ForEvenPieces(in, depth_step, [&](int64_t term, int64_t depth) HWY_ATTR {
      // Blocks of rows that differ by one at most: 7 and 6 rather than 12 and 1.
      ForEvenPieces(rows, kMostRows, [&](int64_t begin, int64_t count) HWY_ATTR {
        const int64_t first = tile.row + begin;
        RowsAhead ahead(product.x + (first + count) * in + term, in,
                        std::min<int64_t>(kMostRows, tile.row_end - first - count), depth,
                        std::max<int64_t>(panels, 1) * count);
        const RowBlock<Number> block{.x = product.x + first * in + term,
                                     .x_stride = static_cast<size_t>(in),
                                     .depth = static_cast<size_t>(depth),
                                     .w = weight.panel(panel) + term * kPanel,
                                     .w_stride = static_cast<size_t>(in) * kPanelWidth,
                                     .start = product.bias ? product.bias + col : nullptr,
                                     .add = product.add || term > 0,
                                     .y = product.y + first * out + col,
                                     .y_stride = static_cast<size_t>(out),
                                     .next = nullptr,
                                     .ahead = &ahead};
        const auto sums = [&](const RowBlock<Number>& b, size_t n)
                              HWY_ATTR { RunBlockOf(count, b, n, std::make_integer_sequence<int, kMostRows>()); };
        if (panels > 0)
          sums(block, static_cast<size_t>(panels));
        else
          RunPartialPanel(count, block, static_cast<size_t>(out - col),
                          [&](const RowBlock<Number>& b) HWY_ATTR { sums(b, 1); });
      });
    });
  };
  for (int64_t p = tile.panel; p < whole; p += group) run(p, std::min(group, whole - p));
  if (whole < tile.panel_end) run(whole, 0);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
