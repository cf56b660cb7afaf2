// The part of the counter-based generator that is done once per row.
#pragma once

#include <cstdint>

#include "heed/kernels/splitmix64.h"

namespace heed::kernels {

/// 64 bits that belong to row (b, h, i) under `seed`; `stream` keeps different uses of one seed apart.
inline uint64_t row_bits(uint64_t seed, uint64_t stream, int64_t b, int64_t h, int64_t i) {
  const auto mix = [](uint64_t x) { return splitmix64(x + kSplitmix64Step); };
  uint64_t x = mix(seed ^ mix(stream));
  x = mix(x ^ static_cast<uint64_t>(b));
  x = mix(x ^ static_cast<uint64_t>(h));
  return mix(x ^ static_cast<uint64_t>(i));
}

}  // namespace heed::kernels
