// splitmix64 (Steele, Lea and Flood 2014), the generator behind heed's random numbers: the same on every machine and
// with every standard library.
#pragma once

#include <cstdint>

namespace heed::kernels {

/// From one state of a generator to the next.
inline constexpr uint64_t kSplitmix64Step = 0x9E3779B97F4A7C15u;

/// The number that a state gives: neighbouring states give unrelated numbers.
constexpr uint64_t splitmix64(uint64_t state) {
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
  return state ^ (state >> 31);
}

}  // namespace heed::kernels
