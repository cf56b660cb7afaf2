// Peak memory of one forward and backward, above inputs, outputs and gradients.
#pragma once

#include <cstdint>
#include <string>

#include "heed/kernels/problem.h"

namespace heed::bench {

struct MemoryResult {
  std::string error;      // empty when it ran
  double peak_mb = 0;     // the process's peak of resident memory above what it held just before the call, in 1e6 bytes
  double tensors_mb = 0;  // inputs, outputs and gradients, which do not count
  double ms = 0;          // of forward and backward
};

/// B 1, H 1, T queries and keys. To be run in a process of its own: the peak of a process never falls by itself, and
/// what the allocator kept from earlier work would hide new memory.
MemoryResult measure_memory(kernels::ScoreKind score, int64_t length, int64_t dim, int threads);

}  // namespace heed::bench
