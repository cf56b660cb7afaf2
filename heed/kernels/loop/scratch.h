// Memory of one thread, grown when needed and kept between calls: no allocation in a hot loop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace heed::kernels {

class Scratch {
 public:
  static constexpr size_t kAlign = 64;

  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { release(); }

  /// Room for `floats` floats in all, in any number of pieces, each rounded up. False: out of memory.
  bool reserve(size_t floats, size_t pieces) {
    const size_t bytes = (floats * sizeof(float) + pieces * kAlign + kAlign - 1) / kAlign * kAlign;
    used_ = 0;
    if (bytes <= size_) return true;
    // At least a quarter more than before: a decoder's keys grow by one per call.
    const size_t size = std::max(bytes, size_ + size_ / 4);
    release();
    base_ = static_cast<char*>(::operator new(size, std::align_val_t(kAlign), std::nothrow));
    if (!base_) return false;
    size_ = size;
    std::memset(base_, 0, size_);  // unused lanes are computed too, so they should hold numbers
    return true;
  }

  template <class T = float>
  T* take(size_t count) {
    if (count == 0) return nullptr;
    T* at = reinterpret_cast<T*>(base_ + used_);
    used_ += (count * sizeof(T) + kAlign - 1) / kAlign * kAlign;
    return at;
  }

 private:
  void release() {
    ::operator delete(base_, std::align_val_t(kAlign));
    base_ = nullptr;
    size_ = 0;
  }

  char* base_ = nullptr;
  size_t size_ = 0;
  size_t used_ = 0;
};

}  // namespace heed::kernels
