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

  /// Room for `floats` floats in all, in any number of pieces of which each is rounded up. False: no memory.
  bool reserve(size_t floats, size_t pieces) {
    const size_t bytes = (floats * sizeof(float) + pieces * kAlign + kAlign - 1) / kAlign * kAlign;
    used_ = 0;
    if (bytes <= size_) return true;
    // A quarter more than before at least: a decoder's keys grow by one from call to call.
    const size_t size = std::max(bytes, size_ + size_ / 4);
    release();
    base_ = static_cast<char*>(::operator new(size, std::align_val_t(kAlign), std::nothrow));
    if (!base_) return false;
    size_ = size;
    std::memset(base_, 0, size_);  // lanes that nobody reads are computed all the same: they should be numbers
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
