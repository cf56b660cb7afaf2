// The weights of one run of the loop, dense.
#pragma once

#include "heed/attend/mechanism.h"

namespace heed::attend {

/// [B, H, longest query, longest memory], in the tape's memory.
Weights dense_weights(const AttentionResult& result, Tape& tape);

/// The first of the largest weights of each row, [B, H, longest query]; -1 for a row without any. In the tape's memory.
int32_t* best_keys(const AttentionResult& result, Tape& tape);

}  // namespace heed::attend
