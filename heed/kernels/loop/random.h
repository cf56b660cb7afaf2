// The part of the counter-based generator that is done once per row.
#pragma once

#include <cstdint>

namespace heed::kernels {

/// splitmix64's finaliser.
inline uint64_t mix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// 64 bits that belong to row (b, h, i) under `seed`; `stream` keeps different uses of one seed apart.
inline uint64_t row_bits(uint64_t seed, uint64_t stream, int64_t b, int64_t h, int64_t i) {
  uint64_t x = mix64(seed ^ mix64(stream));
  x = mix64(x ^ static_cast<uint64_t>(b));
  x = mix64(x ^ static_cast<uint64_t>(h));
  return mix64(x ^ static_cast<uint64_t>(i));
}

}  // namespace heed::kernels
