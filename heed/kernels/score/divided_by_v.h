// The v of additive attention, prepared so that the forward may divide by it (score/tanh_sum.cc).
#pragma once

#include <cstddef>

#include "heed/kernels/loop/call_arena.h"

namespace heed::kernels {

/// Dimensions of additive attention that may share a division. They are padded to a multiple of it with v = 0.
inline constexpr int kTanhDims = 8;

/// Of one head. v is scaled to be about 4, by a power of two, which rounds nothing.
struct DividedByV {
  DividedByV() = default;
  /// v [dim]; whole: dim padded.
  DividedByV(const float* v, size_t dim, size_t whole, CallArena& arena);

  float sum = 0.0f;          // of v
  float scale = 1.0f;        // scaled = scale * v
  float* scaled = nullptr;   // [whole]
  float* inverse = nullptr;  // [whole], 1 / scaled; 0 where there is none
  bool* possible =
      nullptr;  // [whole / kTanhDims]: the product of these inverses, and of some, is neither too large nor small
};

}  // namespace heed::kernels
