// Random numbers that are the same with every compiler and standard library: std::shuffle and the distributions of
// <random> are not. The numbers are those of splitmix64 (Steele, Lea and Flood 2014).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "heed/kernels/splitmix64.h"

namespace heed::text {

class Random {
 public:
  /// `stream` keeps different uses of one seed apart: (seed, epoch), for example.
  explicit Random(uint64_t seed, uint64_t stream = 0)
      : state_(kernels::splitmix64(seed ^ kernels::splitmix64(stream))) {}

  uint64_t next() { return kernels::splitmix64(state_ += kernels::kSplitmix64Step); }

  /// In [0, 1), with all 53 bits of a double.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// One of 0 ... n - 1, each equally likely; n > 0.
  uint64_t below(uint64_t n) {
    // The first 2^64 mod n values would make small results too likely: they are drawn again.
    const uint64_t excess = (uint64_t{0} - n) % n;
    uint64_t x = next();
    while (x < excess) x = next();
    return x % n;
  }

  /// True in `percent` of 100 cases.
  bool chance(uint64_t percent) { return below(100) < percent; }

  template <class T>
  const T& choose(std::span<const T> from) {
    return from[below(from.size())];
  }

  /// Every order is equally likely (Fisher and Yates).
  template <class T>
  void shuffle(std::span<T> items) {
    for (size_t n = items.size(); n > 1; --n) std::swap(items[n - 1], items[below(n)]);
  }

  /// `most` of 0 ... count - 1 in increasing order, every choice equally likely; all if there are no more.
  std::vector<size_t> sample(size_t count, size_t most) {
    std::vector<size_t> chosen;
    // Each of the count - i that remain is taken with the probability (what is still wanted) / (what remains).
    for (size_t i = 0; i < count && chosen.size() < most; ++i)
      if (below(count - i) < most - chosen.size()) chosen.push_back(i);
    return chosen;
  }

 private:
  uint64_t state_;
};

}  // namespace heed::text
