#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/tensor/product.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "heed/kernels/threads.h"
#include "heed/tensor/gradient_product-inl.h"
#include "heed/tensor/parallel.h"
#include "heed/tensor/product-inl.h"
#include "heed/tensor/product.h"
#include "heed/tensor/profile.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// One panel of a weight: [in, kPanel].
void PackPanel(const WeightView& w, int64_t first, float* to) {
  const int64_t cols = std::min(PackedWeight::kPanel, w.out - first);
  constexpr auto kPanel = static_cast<size_t>(PackedWeight::kPanel);
  const bool out_in = w.order == WeightOrder::out_in;
  const kernels::Rows rows{w.data + (out_in ? first * w.in : first), out_in ? w.in : w.out, 1};
  if (out_in)
    PackTransposed(rows, static_cast<size_t>(cols), static_cast<size_t>(w.in), 1.0f, {to, kPanel});
  else
    PackRows(rows, static_cast<size_t>(w.in), static_cast<size_t>(cols), 1.0f, {to, kPanel});
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
namespace {

HWY_EXPORT(PackPanel);
HWY_EXPORT(MultiplyTile);
HWY_EXPORT(GradientTile);

constexpr size_t kAlignment = 128;  // a row of a panel: two cache lines

// Rows whose inputs stay in the L2 cache while all panels pass: 512 KB.
constexpr int64_t kPartInputs = 128 * 1024;
// Multiply-adds that justify a separate part: about 7 microseconds. Helpers are awake while a decoder steps.
constexpr int64_t kPartWork = 1 << 19;
// Few rows wait for the weight to come from the L3 cache or from memory: that takes as long as this many rows.
constexpr int64_t kRowsWorthReading = 8;
constexpr int64_t kPartsPerThread = 3;       // enough that no thread waits long for the last one
constexpr int64_t kSmallWeight = 64 * 1024;  // numbers of a weight that fits in the L2 cache together with the rows
constexpr int64_t kRowStep = 12;             // rows of the largest block of registers

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// How a product is cut for the threads, into parts of rows and panels. The bits do not depend on it.
struct Parts {
  int64_t all_rows, all_panels;
  int64_t rows = 0, panels = 0;  // of a part; the last ones may be smaller
  int64_t down = 1, across = 1;  // how many

  /// Rows times a weight.
  static Parts of(const PackedWeight& w, int64_t all_rows, int threads) {
    Parts parts{all_rows, w.panels()};
    const int64_t most_rows =
        std::max(kRowStep, kPartInputs / std::clamp<int64_t>(w.in(), 1, kWeightDepth) / kRowStep * kRowStep);
    parts.down = ceil_div(all_rows, most_rows);
    const int64_t wanted = worth(std::max(all_rows, kRowsWorthReading) * w.in() * w.out(), threads);
    // Cutting rows writes results in longer pieces, but a weight that does not fit in a core's cache is better cut
    // itself.
    if (w.in() * w.out() <= kSmallWeight && all_rows >= kRowStep * wanted) parts.down = std::max(parts.down, wanted);
    parts.across = std::clamp(ceil_div(wanted, parts.down), int64_t{1}, w.panels());
    parts.even(wanted);
    return parts;
  }

  /// The gradient of a weight, whose columns are side by side in panels. Each part copies its columns of both operands,
  /// so it should have many of each.
  static Parts of(const GradientProduct& g, int threads) {
    constexpr int64_t kPanelsWorth = 4;
    // The sums of the columns go with the first panel, which exists even if the right operand is empty.
    Parts parts{g.left_cols, g.sum ? std::max<int64_t>(1, ceil_div(g.right_cols, PackedWeight::kPanel)) : 1};
    const int64_t wanted = worth(g.rows * g.left_cols * g.right_cols, threads);
    parts.across = std::clamp(parts.all_panels / kPanelsWorth, int64_t{1}, wanted);
    parts.even(wanted);
    return parts;
  }

  int64_t count() const { return down * across; }
  ProductTile at(int64_t t) const {
    const int64_t row = t / across * rows, panel = t % across * panels;
    return {row, std::min(all_rows, row + rows), panel, std::min(all_panels, panel + panels)};
  }

 private:
  static int64_t worth(int64_t work, int threads) {
    return threads == 1 ? 1 : std::clamp<int64_t>(work / kPartWork, 1, kPartsPerThread * threads);
  }
  /// At least `wanted` parts if there are enough rows, all of nearly the same size.
  void even(int64_t wanted) {
    if (down * across < wanted) down = std::min(ceil_div(wanted, across), ceil_div(all_rows, kRowStep));
    rows = ceil_div(ceil_div(all_rows, down), kRowStep) * kRowStep;
    panels = ceil_div(all_panels, across);
    down = ceil_div(all_rows, rows);
    across = ceil_div(all_panels, panels);
  }
};

/// Memory that a thread keeps for its copies of both sides of a gradient.
float* gradient_scratch() {
  struct Scratch {
    float* data = static_cast<float*>(::operator new[](kGradientScratch * sizeof(float), std::align_val_t{kAlignment}));
    Scratch() = default;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { ::operator delete[](data, std::align_val_t{kAlignment}); }
  };
  static thread_local const Scratch scratch;
  return scratch.data;
}

}  // namespace

void PackedWeight::Free::operator()(float* data) const { ::operator delete[](data, std::align_val_t{kAlignment}); }

PackedWeight::PackedWeight(const WeightView& weight) : in_(weight.in), out_(weight.out) {
  const auto numbers = static_cast<size_t>(panels() * in_ * kPanel);
  data_.reset(static_cast<float*>(::operator new[](numbers * sizeof(float), std::align_val_t{kAlignment})));
  copy(weight);
}

void PackedWeight::copy(const WeightView& weight) {
  for_pieces(panels(), in_ * kPanel, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      HWY_DYNAMIC_DISPATCH(PackPanel)(weight, p * kPanel, data_.get() + p * in_ * kPanel);
  });
}

bool PackedWeight::is_copy_of(const WeightView& weight) const {
  if (weight.in != in_ || weight.out != out_) return false;
  const PackedWeight again(weight);
  return std::memcmp(again.data_.get(), data_.get(), static_cast<size_t>(panels() * in_ * kPanel) * sizeof(float)) == 0;
}

void multiply(const PackedWeight& weight, const RowProduct& product) {
  if (product.rows == 0 || weight.out() == 0) return;
  const Timed timed(Work::product);
  const int threads = kernels::most_threads();
  const Parts parts = Parts::of(weight, product.rows, threads);
  kernels::for_each_task(parts.count(), threads, [&](int64_t t) {
    HWY_DYNAMIC_DISPATCH(MultiplyTile)(weight, product, parts.at(t));
  });
}

void multiply(const GradientProduct& product) {
  if (product.left_cols == 0 || !(product.sum || product.left_sum)) return;
  const Timed timed(Work::product);
  const int threads = kernels::most_threads();
  const Parts parts = Parts::of(product, threads);
  kernels::for_each_task(parts.count(), threads, [&](int64_t t) {
    HWY_DYNAMIC_DISPATCH(GradientTile)(product, parts.at(t), gradient_scratch());
  });
}

}  // namespace heed
#endif
