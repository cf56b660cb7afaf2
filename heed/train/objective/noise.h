// G5 noisy inputs: while it learns, the decoder reads some wrong tokens, so that it relies less on what it wrote
// before.
//
//   in  <s> x y z   ->   wrong: a random token;  dropped: the unknown one (Bowman et al. 2016);  swapped: x and y
//   change places
//
// What it should write stays. A row's noise depends on the seed and its place alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/base/random.h"
#include "heed/data/batch.h"
#include "heed/text/tokeniser.h"
#include "heed/train/objective/options.h"

namespace heed::objective {

/// Uniform in [0, 1), with all 53 bits of a double.
double uniform(text::Random& random);

bool has_noise(const Options& options);

/// The tokens that a model may read as its own: what a search may write, END aside, which nothing follows.
std::vector<int32_t> readable_tokens(const text::Tokeniser& target);

/// Changes what the decoder reads; the first row of a sequence, START, stays. `readable`: random tokens are of these.
void add_noise(data::Targets& targets, const Options& options, std::span<const int32_t> readable, uint64_t seed);

}  // namespace heed::objective
