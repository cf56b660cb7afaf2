// What a case of golden bits leaves behind: a hash of every tensor it computed.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace heed::bits {

/// FNV-1a of the bytes: a change of one bit anywhere changes it.
inline uint64_t hash_of(const void* data, size_t size) {
  uint64_t hash = 0xCBF29CE484222325u;
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001B3u;
  return hash;
}

/// The tensors of one case, in the order they were computed.
class Hashes {
 public:
  template <class T>
  void add(std::string_view name, std::span<const T> values) {
    static_assert(std::is_arithmetic_v<T>);
    all_.emplace_back(name, hash_of(values.data(), values.size_bytes()));
  }
  template <class T>
  void add(std::string_view name, const std::vector<T>& values) {
    if (!values.empty()) add(name, std::span<const T>(values));
  }
  const std::vector<std::pair<std::string, uint64_t>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, uint64_t>> all_;
};

/// Numbers made by integers alone (splitmix64), each exactly a float: no libm, no distribution of a standard library.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// In [-reach, reach]: an integer of 23 bits and a sign, times a power of two, times `reach`.
  float symmetric(float reach = 2.0f) {
    return reach * (static_cast<float>(static_cast<int64_t>(next() >> 40) - (1 << 23)) * 0x1p-23f);
  }
  /// In [low, high).
  float between(float low, float high) { return low + (high - low) * (static_cast<float>(next() >> 40) * 0x1p-24f); }
  std::vector<float> some(int64_t count, float reach = 2.0f) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = symmetric(reach);
    return values;
  }

 private:
  uint64_t state_;
};

struct Case {
  std::string name;  // "kernels/score/tanh_sum"
  std::function<void(Hashes&, int threads)> run;
};

void add_kernel_cases(std::vector<Case>& to);
void add_tensor_cases(std::vector<Case>& to);
void add_training_cases(std::vector<Case>& to);

}  // namespace heed::bits
