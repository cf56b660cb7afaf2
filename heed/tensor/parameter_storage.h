// The values of a parameter: an array that knows when they may have been written to, and that may stand in memory only
// as its products read it.
//
// Products read a weight in their kernel's layout (packed_weight.h). In training that is a copy beside the numbers, and
// it must never be stale. So it is stored here: every access that could change the values drops it first. No caller has
// to report that a parameter changed. In inference the packed weight can be all there is: pack(). Whoever wants the
// numbers all the same gets them, unpacked once and then kept.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "heed/tensor/packed_weight.h"

namespace heed {

/// Like std::vector<float>. A non-const pointer, reference or iterator may be written through until the next operation
/// on a tape; get a new one after that, or expose() the values.
/// Threads: any number may read at once, also what is packed.
class ParameterStorage {
 public:
  ParameterStorage() = default;
  ParameterStorage(std::vector<float> numbers) : numbers_(std::move(numbers)) {}  // NOLINT: a vector is values
  ParameterStorage(const ParameterStorage& other) : numbers_(other.copy()) {}
  ParameterStorage(ParameterStorage&& other) noexcept
      : numbers_(std::move(other.mutable_numbers())), exposed_(other.exposed_) {}
  ParameterStorage& operator=(const ParameterStorage& other) { return *this = other.copy(); }
  ParameterStorage& operator=(ParameterStorage&& other) noexcept {
    exposed_ |= other.exposed_;
    return *this = std::move(other.mutable_numbers());
  }
  ParameterStorage& operator=(std::vector<float> numbers) noexcept {
    mutable_numbers() = std::move(numbers);
    return *this;
  }
  ~ParameterStorage() = default;

  size_t size() const { return is_packed() ? packed_size_ : numbers_.size(); }
  bool empty() const { return size() == 0; }
  const float* data() const { return numbers().data(); }
  const float& operator[](size_t i) const { return numbers()[i]; }
  auto begin() const { return numbers().begin(); }
  auto end() const { return numbers().end(); }
  operator const std::vector<float>&() const { return numbers(); }  // NOLINT: values are a vector
  friend bool operator==(const ParameterStorage& a, const ParameterStorage& b) { return a.numbers() == b.numbers(); }
  friend bool operator==(const ParameterStorage& a, const std::vector<float>& b) { return a.numbers() == b; }

  float* data() { return mutable_numbers().data(); }
  float& operator[](size_t i) { return mutable_numbers()[i]; }
  auto begin() { return mutable_numbers().begin(); }
  auto end() { return mutable_numbers().end(); }
  void resize(size_t size) { mutable_numbers().resize(size); }
  void swap(std::vector<float>& other) { mutable_numbers().swap(other); }

  /// The values for code that may write to them at any time, as Python does through an array. From then on no copy is
  /// kept: a product for inference copies the weight every time.
  float* expose();

  /// The copy for products of `weight`; kept if it views these values. Without data it is these values.
  std::shared_ptr<const PackedWeight> packed(const WeightView& weight) const;

  // ------------------------------------------------------------------------------------------------- packed alone
  /// Keeps the values in this format, for products in this order, and nothing else. Exposed values stay.
  void pack(const WeightFormat& format, int64_t in, int64_t out, WeightOrder order);
  /// Whether only the packed weight exists. Reading the numbers, or writing to them, ends that.
  bool is_packed() const { return is_packed_.load(std::memory_order_acquire); }
  /// Row `n` of [rows, cols], and all numbers, without ending it.
  void row(int64_t n, int64_t cols, float* to) const;
  std::vector<float> copy() const;
  size_t bytes() const;  // in memory, with the copies for products

 private:
  const std::vector<float>& numbers() const {
    if (is_packed()) unpack();
    return numbers_;
  }
  std::vector<float>& mutable_numbers() {
    if (is_packed()) unpack();
    if (kept_.load(std::memory_order_acquire)) drop();
    return numbers_;
  }
  void unpack() const;
  void drop();
  const std::shared_ptr<PackedWeight>& only() const { return packed_[static_cast<size_t>(packed_order_)]; }

  mutable std::vector<float> numbers_;  // empty while only the packed weight exists
  bool exposed_ = false;
  mutable std::atomic<bool> is_packed_{false};
  WeightOrder packed_order_ = WeightOrder::out_in;
  size_t packed_size_ = 0;
  mutable std::atomic<bool> kept_{false};                        // whether a copy is fresh
  mutable std::mutex mutex_;                                     // of the copies, and of unpacking
  mutable std::array<std::shared_ptr<PackedWeight>, 2> packed_;  // one for each WeightOrder
  mutable std::array<bool, 2> fresh_{};                          // whether it is up to date
};

}  // namespace heed
