// Memory of one thread, grown when needed and kept between calls: no allocation in a hot loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace heed::kernels {

class Scratch {
 public:
  static constexpr size_t kAlign = 64;

  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::free(base_); }

  /// Room for `floats` floats in all, in any number of pieces of which each is rounded up. False: no memory.
  bool reserve(size_t floats, size_t pieces) {
    const size_t bytes = (floats * sizeof(float) + pieces * kAlign + kAlign - 1) / kAlign * kAlign;
    used_ = 0;
    if (bytes <= size_) return true;
    std::free(base_);
    base_ = static_cast<char*>(std::aligned_alloc(kAlign, bytes));
    size_ = base_ ? bytes : 0;
    // Lanes that nobody reads are computed all the same: they should be numbers.
    for (size_t i = 0; i < size_; ++i) base_[i] = 0;
    return base_ != nullptr;
  }

  template <class T = float>
  T* take(size_t count) {
    if (count == 0) return nullptr;
    T* at = reinterpret_cast<T*>(base_ + used_);
    used_ += (count * sizeof(T) + kAlign - 1) / kAlign * kAlign;
    return at;
  }

 private:
  char* base_ = nullptr;
  size_t size_ = 0;
  size_t used_ = 0;
};

}  // namespace heed::kernels
