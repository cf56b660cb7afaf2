// What inference gains by products of its own.
#pragma once

namespace heed::bench {

/// Products of rows and a weight: as in training (oneDNN) and as in inference (heed/tensor/packed_weight.h).
void print_inference_table(int threads);

}  // namespace heed::bench
