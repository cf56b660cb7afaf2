// float32: the numbers as they are. Every product of training, and of inference unless something else was asked for.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/tensor/format/float32.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>

#include "heed/tensor/format/panels.h"
#include "heed/tensor/parallel.h"
#include "heed/tensor/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// One panel of a weight: [in, kPanel].
void PackPanel(const WeightView& w, int64_t first, float* to) {
  const int64_t cols = std::min(kPanel, w.out - first);
  const bool out_in = w.order == WeightOrder::out_in;
  const kernels::Rows rows{w.data + (out_in ? first * w.in : first), out_in ? w.in : w.out, 1};
  if (out_in)
    PackTransposed(rows, static_cast<size_t>(cols), static_cast<size_t>(w.in), 1.0f, {to, kPanelWidth});
  else
    PackRows(rows, static_cast<size_t>(w.in), static_cast<size_t>(cols), 1.0f, {to, kPanelWidth});
}

void MultiplyFloat32(const PanelsView<float>& weight, const RowProduct& product, const ProductTile& tile) {
  MultiplyTile(weight, product, tile);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
namespace {

HWY_EXPORT(PackPanel);
HWY_EXPORT(MultiplyFloat32);

float as_it_is(float number) { return number; }

class Float32Weight final : public Panels<float, as_it_is> {
 public:
  explicit Float32Weight(const WeightView& weight) : Panels(weight.in, weight.out) { Float32Weight::copy(weight); }

  const WeightFormat& format() const override { return float32_weights; }
  void copy(const WeightView& weight) override {
    for_pieces(panels(), in() * kPanel, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) HWY_DYNAMIC_DISPATCH(PackPanel)(weight, p * kPanel, panel(p));
    });
  }
  void multiply(const RowProduct& product) const override {
    for_each_tile(*this, product, [&](const ProductTile& tile) {
      HWY_DYNAMIC_DISPATCH(MultiplyFloat32)(view(), product, tile);
    });
  }
};

}  // namespace

const WeightFormat float32_weights = {
    .name = "float32",
    .meaning = "the numbers as they were trained",
    .exact = true,
    .pack = [](const WeightView& w) -> std::unique_ptr<PackedWeight> { return std::make_unique<Float32Weight>(w); }};

}  // namespace heed
#endif
