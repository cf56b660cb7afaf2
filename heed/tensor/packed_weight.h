// A weight in the layout of the product's kernel (product.h): copied once, multiplied many times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace heed {

/// How a weight is stored: row-major and contiguous.
enum class WeightOrder {
  out_in,  // [out, in], for x W^T: linear layers
  in_out,  // [in, out], for x W: matmul
};

struct WeightView {
  const float* data = nullptr;
  int64_t in = 0, out = 0;
  WeightOrder order = WeightOrder::out_in;
};

/// A copy of a weight in panels of 32 columns of the result, [panels, in, 32], the last one padded with zeros. The
/// same for every instruction set.
class PackedWeight {
 public:
  static constexpr int64_t kPanel = 32;

  explicit PackedWeight(const WeightView& weight);

  /// Copies a weight of the same sizes over this one.
  void copy(const WeightView& weight);

  int64_t in() const { return in_; }
  int64_t out() const { return out_; }
  int64_t panels() const { return (out_ + kPanel - 1) / kPanel; }
  const float* panel(int64_t p) const { return data_.get() + p * in_ * kPanel; }

  /// Whether `weight` still holds the numbers that were copied.
  bool is_copy_of(const WeightView& weight) const;

 private:
  struct Free {
    void operator()(float* data) const;
  };
  int64_t in_, out_;
  std::unique_ptr<float[], Free> data_;
};

}  // namespace heed
