// Products for inference: rows times a weight that was brought into the kernel's order once. Forward only: training
// uses gemm().
//
// Every number of a result is one chain, bias + x_0 w_0 + x_1 w_1 + ..., by multiply-adds in that order, in whatever
// block of rows and columns it is computed. So a row has the same bits whatever other rows there are, wherever it
// stands, and for any number of threads; oneDNN's product has other last bits for another number of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace heed {

/// How a weight stands in memory, row-major and without gaps.
enum class WeightOrder {
  kOutIn,  // [out, in], for x W^T: linear layers
  kInOut,  // [in, out], for x W: matmul
};

struct WeightView {
  const float* data = nullptr;
  int64_t in = 0, out = 0;
  WeightOrder order = WeightOrder::kOutIn;
};

/// y [rows, out] = x [rows, in] W^T + bias
struct RowProduct {
  int64_t rows = 0;
  const float* x = nullptr;
  const float* bias = nullptr;  // [out], or null for none
  float* y = nullptr;
};

/// A copy of a weight in panels of 32 columns of the result, [panels, in, 32], the last one filled up with zeros. The
/// same for every instruction set.
class PackedWeight {
 public:
  static constexpr int64_t kPanel = 32;

  explicit PackedWeight(const WeightView& weight);

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

void multiply(const PackedWeight& weight, const RowProduct& product);

}  // namespace heed
