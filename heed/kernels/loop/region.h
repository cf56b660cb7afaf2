// Which keys each query sees. Every region is, per query, a range of keys [low, high) and another,
// [prefix_low, prefix), of first keys that no window hides; masks and users' regions may hide single pairs inside. So
// the loop knows one form, not ten.
#pragma once

#include <cstdint>

#include "heed/kernels/loop/sequence.h"
#include "heed/kernels/loop/tile.h"
#include "heed/kernels/problem.h"

namespace heed::kernels {

struct KeyRange {
  int32_t low = 0;
  int32_t high = 0;        // low == high: none
  int32_t prefix_low = 0;  // keys [prefix_low, prefix) are visible too
  int32_t prefix = 0;
  int32_t except = -1;  // this key is not visible, wherever it is

  bool sees(int64_t key) const {
    return key != except && ((key >= low && key < high) || (key >= prefix_low && key < prefix));
  }
};

/// The keys that query i of (b, h) sees, before any mask.
KeyRange visible_keys(const Problem& problem, const Sequence& sequence, int64_t b, int64_t h, int64_t i);

/// The same for all queries of a task: the bounds that do not depend on the query are found once.
void visible_keys(const Problem& problem, const Sequence& sequence, const BlockTask& task, KeyRange* ranges);

/// How much of a tile is visible.
enum class Cover { none, some, all };

/// `ranges` are those of the tile's lanes.
Cover cover(const Problem& problem, const Tile& tile, const KeyRange* ranges);

/// True if a mask or a user-defined region may hide pairs inside the ranges.
bool hides_single_pairs(const Region& region);

/// penalties[query][key], [tile.queries, tile.keys]: 0 where visible, -inf where a mask or a user's region hides the
/// pair.
void mask_penalties(const Region& region, const Tile& tile, float* penalties);

}  // namespace heed::kernels
