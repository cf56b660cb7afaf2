// A tile as a user-defined type sees it.
#pragma once

#include "heed/kernels/custom.h"
#include "heed/kernels/loop/tile.h"

namespace heed::kernels {

/// Describes the pairs; q and k are left empty.
inline CustomTile custom_tile(const Tile& t) {
  CustomTile tile{};
  tile.queries = t.queries;
  tile.keys = t.keys;
  tile.pairs = t.at;
  tile.pair_stride = static_cast<int64_t>(t.stride);
  tile.batch = t.batch;
  tile.head = t.head;
  tile.first_query = t.query;
  tile.first_key = t.key;
  return tile;
}

}  // namespace heed::kernels
