// The edits of TER: see ter.h.
#pragma once

#include <cstdint>
#include <span>

namespace heed::metric {

/// Words as numbers. The smallest number that the search below finds of: replaced, added and removed words, and shifts
/// (a run of words moves elsewhere, whatever its length and the distance). It is a search without looking back, so a
/// smaller number may exist.
int64_t ter_edits(std::span<const int32_t> hypothesis, std::span<const int32_t> reference);

}  // namespace heed::metric
