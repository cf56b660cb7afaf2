// Memory for the contestants: aligned, filled from a formula, written as .npy so that a peer in another process
// computes on the very same numbers.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace heed::bench {

/// Floats on a cache-line boundary. Not touched until filled. Large ones are on huge pages, as NumPy's arrays are, in
/// which the peers have the same numbers: on small pages the same loop reads half as fast on an AMD EPYC.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t size) : size_(size) {
    constexpr size_t kLine = 64, kHugePage = size_t{2} << 20;
    const size_t wanted = static_cast<size_t>(size) * sizeof(float), unit = wanted < 2 * kHugePage ? kLine : kHugePage;
    const size_t bytes = std::max<size_t>(1, (wanted + unit - 1) / unit) * unit;
    data_.reset(static_cast<float*>(std::aligned_alloc(unit, bytes)));
    if (!data_) std::abort();  // a benchmark that does not fit in memory has nothing to say
    if (unit == kHugePage) madvise(data_.get(), bytes, MADV_HUGEPAGE);
  }

  float* data() const { return data_.get(); }
  int64_t size() const { return size_; }
  std::span<const float> span() const { return {data(), static_cast<size_t>(size_)}; }
  bool empty() const { return size_ == 0; }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float, Free> data_;
  int64_t size_ = 0;
};

/// Uniform with variance 1 (so within +-1.74) times `scale`: scaled dot products then have variance 1 as well, which is
/// where attention lives at the start of training.
inline void fill_random(const Buffer& buffer, uint32_t seed, float scale = 1.0f) {
  for (int64_t i = 0; i < buffer.size(); ++i) {
    uint32_t x = static_cast<uint32_t>(i) * 0x9E3779B9u + seed * 0x85EBCA6Bu;
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    x ^= x >> 16;
    const float unit = static_cast<float>(x >> 8) * (2.0f / 16777216.0f) - 1.0f;
    buffer.data()[i] = unit * 1.7320508f * scale;
  }
}

inline void fill_zero(const Buffer& buffer) {
  for (int64_t i = 0; i < buffer.size(); ++i) buffer.data()[i] = 0.0f;
}

/// The simplest form of NumPy's file format, version 1.0: little-endian float32, row-major.
inline bool write_npy(const std::string& path, const float* data, const std::vector<int64_t>& shape) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  int64_t size = 1;
  for (int64_t extent : shape) {
    header += std::to_string(extent) + ",";
    size *= extent;
  }
  header += "), }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  const char magic[] = {'\x93',
                        'N',
                        'U',
                        'M',
                        'P',
                        'Y',
                        1,
                        0,
                        static_cast<char>(header.size() & 0xFF),
                        static_cast<char>(header.size() >> 8)};
  file.write(magic, sizeof magic);
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size * 4));
  return static_cast<bool>(file.flush());
}

}  // namespace heed::bench
