// bfloat16: the upper half of each float32, rounded to the nearest. Half of the memory, and half of the bytes that a
// product with few rows waits for. A product widens them, which is exact, and computes in float32.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/tensor/format/bfloat16.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>

#include "heed/base/dtype.h"
#include "heed/tensor/format/all.h"
#include "heed/tensor/format/panels.h"
#include "heed/tensor/parallel.h"
#include "heed/tensor/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

void MultiplyBfloat16(const PanelsView<uint16_t>& weight, const RowProduct& product, const ProductTile& tile) {
  MultiplyTile(weight, product, tile);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
namespace {

HWY_EXPORT(MultiplyBfloat16);

class Bfloat16Weight final : public Panels<uint16_t, float_of_bf16> {
 public:
  explicit Bfloat16Weight(const WeightView& weight) : Panels(weight.in, weight.out) { Bfloat16Weight::copy(weight); }

  const WeightFormat& format() const override { return bfloat16_weights; }
  void copy(const WeightView& w) override {
    const bool out_in = w.order == WeightOrder::out_in;
    const int64_t down = out_in ? 1 : w.out, across = out_in ? w.in : 1;
    for_pieces(panels(), in() * kPanel, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        uint16_t* to = panel(p);
        const int64_t first = p * kPanel, cols = std::min(kPanel, w.out - first);
        for (int64_t i = 0; i < w.in; ++i, to += kPanel) {
          for (int64_t c = 0; c < cols; ++c) to[c] = bf16_of(w.data[i * down + (first + c) * across]);
          std::fill(to + cols, to + kPanel, uint16_t{0});
        }
      }
    });
  }
  void multiply(const RowProduct& product) const override {
    for_each_tile(*this, product, [&](const ProductTile& tile) {
      HWY_DYNAMIC_DISPATCH(MultiplyBfloat16)(view(), product, tile);
    });
  }
};

}  // namespace

const WeightFormat bfloat16_weights = {
    .name = "bfloat16",
    .meaning = "rounded to 8 bits of fraction: half of the memory",
    .exact = false,
    .pack = [](const WeightView& w) -> std::unique_ptr<PackedWeight> { return std::make_unique<Bfloat16Weight>(w); }};

}  // namespace heed
#endif
