// The values of a parameter: an array that knows when they may have been written to.
//
// Inference keeps a copy of a weight in its kernel's layout (packed_weight.h), and the copy must never be stale. So it
// is stored here: every access that could change the values drops it first. No caller has to report that a parameter
// changed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "heed/tensor/packed_weight.h"

namespace heed {

/// Like std::vector<float>. A non-const pointer, reference or iterator may be written through until the next operation
/// on a tape; get a new one after that, or expose() the values.
class ParameterStorage {
 public:
  ParameterStorage() = default;
  ParameterStorage(std::vector<float> numbers) : numbers_(std::move(numbers)) {}  // NOLINT: a vector is values
  ParameterStorage(const ParameterStorage& other) : numbers_(other.numbers_) {}
  ParameterStorage(ParameterStorage&& other) noexcept
      : numbers_(std::move(other.mutable_numbers())), exposed_(other.exposed_) {}
  ParameterStorage& operator=(const ParameterStorage& other) { return *this = other.numbers_; }
  ParameterStorage& operator=(ParameterStorage&& other) noexcept {
    exposed_ |= other.exposed_;
    return *this = std::move(other.mutable_numbers());
  }
  ParameterStorage& operator=(std::vector<float> numbers) noexcept {
    mutable_numbers() = std::move(numbers);
    return *this;
  }
  ~ParameterStorage() = default;

  size_t size() const { return numbers_.size(); }
  bool empty() const { return numbers_.empty(); }
  const float* data() const { return numbers_.data(); }
  const float& operator[](size_t i) const { return numbers_[i]; }
  auto begin() const { return numbers_.begin(); }
  auto end() const { return numbers_.end(); }
  operator const std::vector<float>&() const { return numbers_; }  // NOLINT: values are a vector
  friend bool operator==(const ParameterStorage& a, const ParameterStorage& b) { return a.numbers_ == b.numbers_; }
  friend bool operator==(const ParameterStorage& a, const std::vector<float>& b) { return a.numbers_ == b; }

  float* data() { return mutable_numbers().data(); }
  float& operator[](size_t i) { return mutable_numbers()[i]; }
  auto begin() { return mutable_numbers().begin(); }
  auto end() { return mutable_numbers().end(); }
  void resize(size_t size) { mutable_numbers().resize(size); }
  void swap(std::vector<float>& other) { mutable_numbers().swap(other); }

  /// The values for code that may write to them at any time, as Python does through an array. From then on no copy is
  /// kept: a product for inference copies the weight every time.
  float* expose();

  /// The copy for inference of `weight`; kept if it views these values. Any number of threads may call it at once, as
  /// for reading.
  std::shared_ptr<const PackedWeight> packed(const WeightView& weight) const;

 private:
  std::vector<float>& mutable_numbers() {
    if (kept_.load(std::memory_order_acquire)) drop();
    return numbers_;
  }
  void drop();

  std::vector<float> numbers_;
  bool exposed_ = false;
  mutable std::atomic<bool> kept_{false};                        // whether a copy is fresh
  mutable std::mutex mutex_;                                     // of the copies
  mutable std::array<std::shared_ptr<PackedWeight>, 2> packed_;  // one for each WeightOrder
  mutable std::array<bool, 2> fresh_{};                          // whether it is up to date
};

}  // namespace heed
