#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/tensor/packed_weight.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "heed/kernels/simd/rows-inl.h"
#include "heed/kernels/threads.h"
#include "heed/tensor/packed_weight.h"
#include "heed/tensor/parallel.h"
#include "heed/tensor/profile.h"
#include "heed/tensor/row_block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// One panel of a weight: [in, kPanel].
void PackPanel(const WeightView& w, int64_t first, float* to) {
  const int64_t cols = std::min(PackedWeight::kPanel, w.out - first);
  constexpr auto kPanel = static_cast<size_t>(PackedWeight::kPanel);
  const bool out_in = w.order == WeightOrder::kOutIn;
  const kernels::Rows rows{w.data + (out_in ? first * w.in : first), out_in ? w.in : w.out, 1};
  if (out_in)
    PackTransposed(rows, static_cast<size_t>(cols), static_cast<size_t>(w.in), 1.0f, to, kPanel);
  else
    PackRows(rows, static_cast<size_t>(w.in), static_cast<size_t>(cols), 1.0f, to, kPanel);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
namespace {

HWY_EXPORT(PackPanel);
HWY_EXPORT(MultiplyPart);

constexpr size_t kAlignment = 128;  // a row of a panel: two cache lines

// Rows whose inputs stay in the second-level cache while all panels pass: 512 KB.
constexpr int64_t kPartInputs = 128 * 1024;
// Multiply-adds that are worth a part of their own: some 7 microseconds. Helpers are awake while a decoder steps.
constexpr int64_t kPartWork = 1 << 19;
constexpr int64_t kPartsPerThread = 3;       // enough that nobody waits long for the last one
constexpr int64_t kSmallWeight = 64 * 1024;  // numbers of a weight that fits beside the rows in the second-level cache
constexpr int64_t kRowStep = 12;             // rows of the largest block of registers

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// How a product is cut for the threads. The bits do not depend on it.
struct Parts {
  int64_t rows, panels;  // of a part; the last ones may be smaller
  int64_t down, across;  // how many

  Parts(const PackedWeight& w, int64_t all_rows, int threads) {
    const int64_t most_rows = std::max(kRowStep, kPartInputs / std::max<int64_t>(w.in(), 1) / kRowStep * kRowStep);
    down = ceil_div(all_rows, most_rows);
    const int64_t worth = all_rows * w.in() * w.out() / kPartWork;
    const int64_t wanted = threads == 1 ? 1 : std::min(worth, kPartsPerThread * threads);
    // Results are written in longer pieces where rows are cut; a weight that a core's cache does not hold had better be
    // cut itself.
    if (w.in() * w.out() <= kSmallWeight && all_rows >= kRowStep * wanted) down = std::max(down, wanted);
    across = std::clamp(ceil_div(wanted, down), int64_t{1}, w.panels());
    if (down * across < wanted) down = std::min(ceil_div(wanted, across), ceil_div(all_rows, kRowStep));
    rows = ceil_div(ceil_div(all_rows, down), kRowStep) * kRowStep;
    panels = ceil_div(w.panels(), across);
    down = ceil_div(all_rows, rows);
    across = ceil_div(w.panels(), panels);
  }
  int64_t count() const { return down * across; }
};

}  // namespace

void PackedWeight::Free::operator()(float* data) const { ::operator delete[](data, std::align_val_t{kAlignment}); }

PackedWeight::PackedWeight(const WeightView& weight) : in_(weight.in), out_(weight.out) {
  const auto numbers = static_cast<size_t>(panels() * in_ * kPanel);
  data_.reset(static_cast<float*>(::operator new[](numbers * sizeof(float), std::align_val_t{kAlignment})));
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
  const Timed timed(Work::kProduct);
  const int threads = kernels::most_threads();
  const Parts parts(weight, product.rows, threads);
  kernels::for_each_task(parts.count(), threads, [&](int64_t t) {
    const int64_t row = t / parts.across * parts.rows, panel = t % parts.across * parts.panels;
    HWY_DYNAMIC_DISPATCH(MultiplyPart)
    (weight, product,
     {row, std::min(product.rows, row + parts.rows), panel, std::min(weight.panels(), panel + parts.panels)});
  });
}

}  // namespace heed
#endif
