// Products with weights in each format (tensor/format/), beside float32.
#pragma once

namespace heed::bench {

/// Rows times a packed weight: float32's GFLOP/s, then how many times as fast each other format is.
void print_format_table(int threads);

}  // namespace heed::bench
