// How a product is cut for the threads: parts of rows and of panels, blocks of 32 columns of the result. The bits do
// not depend on it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/kernels/threads.h"
#include "heed/tensor/product.h"

namespace heed {

/// Columns of a panel. The same for every instruction set.
inline constexpr int64_t kPanel = 32;

/// The rows and panels that one thread computes at a time.
struct ProductTile {
  int64_t row, row_end, panel, panel_end;
};

/// Terms of a sum that are added before moving to the next columns: this much of the left operand stays in the L1
/// cache. A sum continues where it stopped, so its bits do not depend on this.
inline constexpr int64_t kWeightDepth = 512;

class ProductParts {
 public:
  /// `rows` times a weight.
  ProductParts(const PackedWeight& weight, int64_t rows, int threads);
  /// The gradient of a weight, whose columns are side by side in panels. Each part copies its columns of both operands,
  /// so it should have many of each.
  ProductParts(const GradientProduct& product, int threads);

  int64_t count() const { return down_ * across_; }
  ProductTile at(int64_t t) const {
    const int64_t row = t / across_ * rows_, panel = t % across_ * panels_;
    return {row, std::min(all_rows_, row + rows_), panel, std::min(all_panels_, panel + panels_)};
  }

 private:
  void even(int64_t wanted);

  int64_t all_rows_, all_panels_;
  int64_t rows_ = 0, panels_ = 0;  // of a part; the last ones may be smaller
  int64_t down_ = 1, across_ = 1;  // how many
};

/// run(tile) for all parts of a product, on all threads: what a format's multiply() does.
template <class Run>
void for_each_tile(const PackedWeight& weight, const RowProduct& product, const Run& run) {
  const int threads = kernels::most_threads();
  const ProductParts parts(weight, product.rows, threads);
  kernels::for_each_task(parts.count(), threads, [&](int64_t t) { run(parts.at(t)); });
}

}  // namespace heed
