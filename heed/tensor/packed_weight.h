// A weight in the layout of the product's kernel (product.h): packed once, multiplied many times.
//
// A format of packed weights is a file of tensor/format/ and a line of tensor/format/all.h: a class that derives from
// PackedWeight, and its WeightFormat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace heed {

struct RowProduct;
struct WeightFormat;

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

/// The numbers of a weight in a format of its own. They may be rounded: what it gives back is what it multiplies by.
/// Threads: any number may read and multiply at once.
class PackedWeight {
 public:
  PackedWeight(const PackedWeight&) = delete;
  PackedWeight& operator=(const PackedWeight&) = delete;
  virtual ~PackedWeight();

  int64_t in() const { return in_; }
  int64_t out() const { return out_; }

  virtual const WeightFormat& format() const = 0;
  virtual size_t bytes() const = 0;  // in memory

  /// Packs a weight of the same sizes over this one.
  virtual void copy(const WeightView& weight) = 0;

  /// The numbers back: row `n` of the weight in this order, [in] or [out] of them; or all, [out, in] or [in, out].
  virtual void row(WeightOrder order, int64_t n, float* to) const = 0;
  void unpack(WeightOrder order, float* to) const;

  /// y = x W^T + bias; at least one row and one column of the result.
  virtual void multiply(const RowProduct& product) const = 0;

  /// Whether `weight` still holds the numbers that were packed, if the format keeps them exactly.
  bool is_copy_of(const WeightView& weight) const;

 protected:
  PackedWeight(int64_t in, int64_t out) : in_(in), out_(out) {}

 private:
  int64_t in_, out_;
};

struct WeightFormat {
  const char* name;     // of the precision, in options: "float32"
  const char* meaning;  // a few words
  bool exact;           // whether it gives back the bits that were packed
  std::unique_ptr<PackedWeight> (*pack)(const WeightView& weight);
};

/// What training and, unless something else was asked for, inference use.
extern const WeightFormat float32_weights;

}  // namespace heed
