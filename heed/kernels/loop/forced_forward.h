// Forced-forward (temporal) attention on tiles: score_ti - C_ti, C_ti = log sum_{u < t} exp(score_ui) over visible
// pairs.
#pragma once

#include <cstdint>

#include "heed/kernels/loop/tile.h"
#include "heed/kernels/problem.h"

namespace heed::kernels {

/// Shifts the scores of a tile and moves `column` [tile.keys] on: C before the first lane -> C after the last one.
/// `kept` (null in the forward) receives what the gradient needs of every pair. `transposed`: scratch of [queries,
/// keys].
struct ForcedTiles {
  float* score;   // e_ti, a tile buffer
  float* before;  // C_ti, a tile buffer
};
void forced_forward_shift(const Tile& scores, float* column, const ForcedTiles* kept, float* transposed);

/// d' -> d on a tile, from the last lane to the first.
///   d_ti = d'_ti - exp(e_ti - C+_ti) R_ti,   R of the query before = d'_ti + R_ti exp(C_ti - C+_ti)
/// C+ is C after t; `carry` [tile.keys] holds R, minus the gradient of C; `column_after` [tile.keys] holds C after the
/// tile's last lane and is moved back to C before its first.
void forced_forward_gradient(const Tile& d, const ForcedTiles& kept, float* column_after, float* carry);

/// Where a query block's column state begins in Outputs::forced_saved: one row of Tk floats per block.
int64_t forced_saved_index(const Problem& problem, int64_t b, int64_t h, int64_t block, int width);

}  // namespace heed::kernels
