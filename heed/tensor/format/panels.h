// Panels: blocks of 32 columns of the result, [panels, in, 32], the last one padded with zeros. The layout that the
// formats of floating-point numbers share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "heed/tensor/packed_weight.h"
#include "heed/tensor/product_parts.h"

namespace heed {

/// What a kernel reads.
template <class Number>
struct PanelsView {
  const Number* data;
  int64_t in, out;

  const Number* panel(int64_t p) const { return data + p * in * kPanel; }
};

/// `widen` gives the float32 that a number stands for.
template <class Number, float (*widen)(Number)>
class Panels : public PackedWeight {
 public:
  size_t bytes() const final { return count() * sizeof(Number); }

  void row(WeightOrder order, int64_t n, float* to) const final {
    const PanelsView<Number> all = view();
    if (order == WeightOrder::out_in) {
      const Number* from = all.panel(n / kPanel) + n % kPanel;
      for (int64_t i = 0; i < in(); ++i) to[i] = widen(from[i * kPanel]);
      return;
    }
    for (int64_t o = 0; o < out(); o += kPanel) {
      const Number* from = all.panel(o / kPanel) + n * kPanel;
      for (int64_t c = 0; c < std::min(kPanel, out() - o); ++c) to[o + c] = widen(from[c]);
    }
  }

 protected:
  Panels(int64_t in, int64_t out) : PackedWeight(in, out) {
    data_.reset(static_cast<Number*>(::operator new[](count() * sizeof(Number), kAlignment)));
  }

  int64_t panels() const { return (out() + kPanel - 1) / kPanel; }
  PanelsView<Number> view() const { return {data_.get(), in(), out()}; }
  Number* panel(int64_t p) { return data_.get() + p * in() * kPanel; }

 private:
  static constexpr auto kAlignment = std::align_val_t{128};  // a row of a panel of floats: two cache lines
  struct Free {
    void operator()(Number* data) const { ::operator delete[](data, kAlignment); }
  };
  size_t count() const { return static_cast<size_t>(panels() * in() * kPanel); }

  std::unique_ptr<Number[], Free> data_;
};

}  // namespace heed
