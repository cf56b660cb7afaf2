// A memory that grows by one row per sequence and step.
#pragma once

#include "heed/attend/mechanism.h"

namespace heed::attend {

PreparedMemory begin_cache(int64_t batch, int64_t capacity);
/// Writes one row per sequence, keys [B, ..] (or empty) and values [B, ..], after the existing ones.
PreparedMemory extend_cache(const PreparedMemory& so_far, Tensor keys, Tensor values);

}  // namespace heed::attend
