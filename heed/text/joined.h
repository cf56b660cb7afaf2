// Pieces joined pair by pair, the best pair first: how BPE cuts a word.  Sennrich et al. 2016
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace heed::text {

/// What a pair becomes. The lowest rank is joined first; of equal ranks the pair that stands first.
struct Join {
  double rank;
  int32_t piece;
};

/// `find(left, right)`: the join of two neighbours, if there is one.
std::vector<int32_t> joined(const std::vector<int32_t>& pieces,
                            const std::function<std::optional<Join>(int32_t left, int32_t right)>& find);

}  // namespace heed::text
