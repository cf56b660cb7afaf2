// The task `reverse`: random letters and digits, and the same backwards. The smallest task that needs attention.
#pragma once

#include <cstdint>

#include "heed/data/pairs.h"
#include "heed/data/split.h"

namespace heed::data {

struct ReverseOptions {
  int64_t min_length = 1;  // characters; every length is equally likely
  int64_t max_length = 20;
  bool letters = true;  // a to z besides 0 to 9
  Split split = Split::train;
};

/// `count` pairs, a function of the seed and the options. Throws Error if there are too few different strings for every
/// split: at least some ten thousand are needed.
Pairs reverse_pairs(int64_t count, uint64_t seed, const ReverseOptions& options = {});

}  // namespace heed::data
