// The searches, for sources that are not empty.
#pragma once

#include "heed/model/search/stepper.h"

namespace heed::search {

using Strategy = std::vector<Result> (*)(Stepper&);

std::vector<Result> greedy(Stepper& stepper);           // the most likely token at every step
std::vector<Result> beam_search(Stepper& stepper);      // the most likely `beam` hypotheses of every length
std::vector<Result> sample(Stepper& stepper);           // every token drawn
std::vector<Result> sample_distinct(Stepper& stepper);  // the same, without replacement

/// All tokens at once, then the least certain ones again.
std::vector<Result> refine(const model::ParallelGenerator& generator, Tape& tape, const Input& input,
                           const Options& options);

}  // namespace heed::search
