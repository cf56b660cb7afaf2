// The kernel of the gradient of a weight, per instruction set: columns of both operands are copied into blocks and
// panels, and then multiplied as the product multiplies rows.
#if defined(HEED_TENSOR_GRADIENT_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_TENSOR_GRADIENT_PRODUCT_INL_H_
#undef HEED_TENSOR_GRADIENT_PRODUCT_INL_H_
#else
#define HEED_TENSOR_GRADIENT_PRODUCT_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "heed/tensor/product-inl.h"
#include "hwy/highway.h"

#ifndef HEED_TENSOR_GRADIENT_PRODUCT_ONCE_
#define HEED_TENSOR_GRADIENT_PRODUCT_ONCE_
namespace heed {
/// Terms of a sum that are added before moving to the next columns, as kWeightDepth.
inline constexpr int64_t kGradientDepth = 256;

/// What a gradient task copies of both operands at a time: this many columns of the left one and panels of the right
/// one, and the total in floats.
inline constexpr int64_t kLeftCols = 48;
inline constexpr int64_t kLeftSlack = 64;
inline constexpr int64_t kGradientPanels = 8;
inline constexpr int64_t kGradientScratch = kGradientDepth * (kLeftCols + kGradientPanels * kPanel) + kLeftSlack;
}  // namespace heed
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Columns are copied in whole vectors, a block of kMostRows of them at a time: the last ones may run over its end.
inline constexpr int64_t kBlockRead = static_cast<int64_t>(PadToLanes(kMostRows));
constexpr int64_t LeftBlock(int64_t depth) { return depth * kMostRows + kBlockRead - kMostRows; }
static_assert(kLeftCols / kMostRows * (kBlockRead - kMostRows) <= kLeftSlack);

/// Columns [0, count) of `depth` rows.
struct LeftColumns {
  const float* data;
  int64_t stride;
  int64_t depth, count;
  int64_t room;  // numbers that may be read from a row on
};

/// The columns in blocks, to[block][depth][kMostRows]; what the last block lacks is 0.
HWY_INLINE void PackColumns(const LeftColumns& columns, float* to) {
  const F32 d;
  const float* from = columns.data;
  const int64_t stride = columns.stride, depth = columns.depth, count = columns.count;
  const int64_t blocks = (count + kMostRows - 1) / kMostRows, block = LeftBlock(depth);
  if (columns.room >= (blocks - 1) * kMostRows + kBlockRead && count == blocks * kMostRows) {
    for (int64_t p = 0; p < depth; ++p, from += stride, to += kMostRows)
      for (int64_t b = 0; b < blocks; ++b)
#pragma GCC unroll 12
        for (int64_t c = 0; c < kBlockRead; c += kLanes)
          hn::StoreU(hn::LoadU(d, from + b * kMostRows + c), d, to + b * block + c);
    return;
  }
  std::fill_n(to, blocks * block, 0.0f);
  for (int64_t b = 0; b < blocks; ++b)
    for (int64_t p = 0; p < depth; ++p) {
      const int64_t cols = std::min<int64_t>(kMostRows, count - b * kMostRows);
      float* at = to + b * block + p * kMostRows;
      std::copy_n(from + p * stride + b * kMostRows, cols, at);
    }
}

/// sink[c] (+)= sum_p left[p][c] of `count` columns as PackColumns() left them.
HWY_INLINE void AddColumnSums(const float* left, int64_t depth, int64_t count, GradientSink sink) {
  const F32 d;
  constexpr int kVecs = static_cast<int>(kBlockRead / static_cast<int64_t>(kLanes));
  for (int64_t first = 0; first < count; first += kMostRows, left += LeftBlock(depth)) {
    // Two chains: one would wait for the latency of each addition.
    V32 even[kVecs], odd[kVecs];
    for (int v = 0; v < kVecs; ++v) even[v] = odd[v] = hn::Zero(d);
    const auto row = [&](int64_t p, V32* sums) HWY_ATTR {
#pragma GCC unroll 12
      for (int v = 0; v < kVecs; ++v) sums[v] = hn::Add(sums[v], hn::LoadU(d, left + p * kMostRows + v * kLanes));
    };
    int64_t p = 0;
    for (; p + 2 <= depth; p += 2) row(p, even), row(p + 1, odd);
    if (p < depth) row(p, even);
    float sums[kBlockRead];
    for (int v = 0; v < kVecs; ++v) hn::StoreU(hn::Add(even[v], odd[v]), d, sums + v * kLanes);
    for (int64_t c = 0; c < std::min<int64_t>(kMostRows, count - first); ++c) {
      float& at = sink.data[first + c];
      at = sums[c] + (sink.fresh ? 0.0f : at);
    }
  }
}

/// Rows of `cols` columns as a panel.
HWY_INLINE void PackPanelRows(const float* from, int64_t stride, int64_t depth, int64_t cols, float* to) {
  const F32 d;
  if (cols < kPanel)
    return PackRows({from, stride, 1}, static_cast<size_t>(depth), static_cast<size_t>(cols), 1.0f, {to, kPanelWidth});
  for (int64_t p = 0; p < depth; ++p, from += stride, to += kPanelWidth)
#pragma GCC unroll 32
    for (size_t c = 0; c < kPanelWidth; c += kLanes) hn::Store(hn::LoadU(d, from + c), d, to + c);
}

/// `scratch`: kGradientScratch floats, aligned.
inline void GradientTile(const GradientProduct& g, const ProductTile& tile, float* scratch) {
  float* right = scratch;
  float* left = scratch + kGradientDepth * kGradientPanels * kPanel;
  const auto sums = [](int64_t rows, const RowBlock<float>& block) HWY_ATTR {
    constexpr int kThird = kMostRows / 3;  // of the rows that registers can hold
    if (rows > 2 * kThird)
      RunPanel<3 * kThird, true>(block);
    else if (rows > kThird)
      RunPanel<2 * kThird, true>(block);
    else
      RunPanel<kThird, true>(block);
  };
  const auto run = [&](int64_t panel, int64_t panels, int64_t term, int64_t depth) HWY_ATTR {
    for (int64_t row = tile.row; row < tile.row_end; row += kLeftCols) {
      const int64_t count = std::min(kLeftCols, tile.row_end - row), blocks = (count + kMostRows - 1) / kMostRows;
      PackColumns({g.left + term * g.left_stride + row, g.left_stride, depth, count, g.left_cols - row}, left);
      if (panel == 0 && g.left_sum)
        AddColumnSums(left, depth, count, {g.left_sum.data + row, g.left_sum.fresh && term == 0});
      if (!g.sum) continue;
      // The columns that come next are far apart in memory: no hardware sees the pattern.
      const int64_t next = std::min(kLeftCols, tile.row_end - row - count);
      RowsAhead ahead(g.left + term * g.left_stride + row + count, g.left_stride, next > 0 ? depth : 0, next,
                      panels * count);
      for (int64_t p = 0; p < panels; ++p)
        for (int64_t b = 0; b < blocks; ++b) {
          const int64_t first = row + b * kMostRows, rows = std::min<int64_t>(kMostRows, count - b * kMostRows);
          const int64_t col = (panel + p) * kPanel;
          const int64_t cols = std::min(kPanel, g.right_cols - col);
          float* y = g.sum.data + first * g.right_cols + col;
          const RowBlock<float> block{
              .x = left + b * LeftBlock(depth),
              .x_stride = static_cast<size_t>(kMostRows),
              .depth = static_cast<size_t>(depth),
              .w = right + p * depth * kPanel,
              .w_stride = 0,
              .start = nullptr,
              .add = !g.sum.fresh || term > 0,
              .y = y,
              .y_stride = static_cast<size_t>(g.right_cols),
              .next = b + 1 < blocks ? y + kMostRows * g.right_cols : g.sum.data + row * g.right_cols + col + kPanel,
              .ahead = &ahead};
          if (cols == kPanel && rows % (kMostRows / 3) == 0)
            sums(rows, block);
          else
            RunPartialPanel(rows, block, static_cast<size_t>(cols),
                            [&](const RowBlock<float>& one) HWY_ATTR { sums(rows, one); });
        }
    }
  };
  for (int64_t panel = tile.panel; panel < tile.panel_end; panel += kGradientPanels) {
    const int64_t panels = std::min(kGradientPanels, tile.panel_end - panel);
    ForEvenPieces(g.rows, kGradientDepth, [&](int64_t term, int64_t depth) HWY_ATTR {
      for (int64_t p = 0; p < panels && g.sum; ++p) {
        const int64_t col = (panel + p) * kPanel;
        PackPanelRows(g.right + term * g.right_stride + col, g.right_stride, depth,
                      std::min(kPanel, g.right_cols - col), right + p * depth * kPanel);
      }
      run(panel, panels, term, depth);
    });
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
