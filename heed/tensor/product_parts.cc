#include "heed/tensor/product_parts.h"

namespace heed {

namespace {

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

int64_t worth(int64_t work, int threads) {
  return threads == 1 ? 1 : std::clamp<int64_t>(work / kPartWork, 1, kPartsPerThread * threads);
}

}  // namespace

ProductParts::ProductParts(const PackedWeight& w, int64_t all_rows, int threads)
    : all_rows_(all_rows), all_panels_(ceil_div(w.out(), kPanel)) {
  const int64_t most_rows =
      std::max(kRowStep, kPartInputs / std::clamp<int64_t>(w.in(), 1, kWeightDepth) / kRowStep * kRowStep);
  down_ = ceil_div(all_rows, most_rows);
  const int64_t wanted = worth(std::max(all_rows, kRowsWorthReading) * w.in() * w.out(), threads);
  // Cutting rows writes results in longer pieces, but a weight that does not fit in a core's cache is better cut
  // itself.
  if (w.in() * w.out() <= kSmallWeight && all_rows >= kRowStep * wanted) down_ = std::max(down_, wanted);
  across_ = std::clamp(ceil_div(wanted, down_), int64_t{1}, all_panels_);
  even(wanted);
}

ProductParts::ProductParts(const GradientProduct& g, int threads)
    // The sums of the columns go with the first panel, which exists even if the right operand is empty.
    : all_rows_(g.left_cols), all_panels_(g.sum ? std::max<int64_t>(1, ceil_div(g.right_cols, kPanel)) : 1) {
  constexpr int64_t kPanelsWorth = 4;
  const int64_t wanted = worth(g.rows * g.left_cols * g.right_cols, threads);
  across_ = std::clamp(all_panels_ / kPanelsWorth, int64_t{1}, wanted);
  even(wanted);
}

/// At least `wanted` parts if there are enough rows, all of nearly the same size.
void ProductParts::even(int64_t wanted) {
  if (down_ * across_ < wanted) down_ = std::min(ceil_div(wanted, across_), ceil_div(all_rows_, kRowStep));
  rows_ = ceil_div(ceil_div(all_rows_, down_), kRowStep) * kRowStep;
  panels_ = ceil_div(all_panels_, across_);
  down_ = ceil_div(all_rows_, rows_);
  across_ = ceil_div(all_panels_, panels_);
}

}  // namespace heed
