// Which BLAS: a table of single-precision products on the shapes that attention needs.
#pragma once

namespace heed::bench {

/// Prints GFLOP/s of oneDNN and of every other BLAS found on this machine.
void print_blas_table(int threads);

}  // namespace heed::bench
