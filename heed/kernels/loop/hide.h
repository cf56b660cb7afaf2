// The region on a tile of scores: -inf over every hidden pair.
#pragma once

#include "heed/kernels/loop/region.h"

namespace heed::kernels {

/// `ranges` are those of the tile's lanes; `penalties` is scratch of [queries, keys] where there is a mask.
void hide(const Problem& problem, const Tile& tile, const KeyRange* ranges, float* penalties);

}  // namespace heed::kernels
