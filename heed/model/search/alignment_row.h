// The weights of one row of an alignment, of the layer and head that were asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/model/search/search.h"

namespace heed::search {

/// Query `query` of sequence `sequence`, to the first `keys` tokens of its source: a layer and a head, or the mean of
/// them. Throws if there is no such layer or head.
struct AlignmentRow {
  int64_t sequence = 0, query = 0, keys = 0;
};
std::vector<float> weights_of(const decode::Alignment& alignment, const Heads& heads, const AlignmentRow& row);

}  // namespace heed::search
