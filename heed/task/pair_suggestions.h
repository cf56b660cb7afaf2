// How pairs of lines are best cut into tokens, and which model, batch and metric fit them: what somebody would choose
// who has trained many models, and looked at the data.
#pragma once

#include <vector>

#include "heed/data/options.h"
#include "heed/data/pairs.h"
#include "heed/model/options.h"
#include "heed/task/suggestion.h"

namespace heed::task {

/// What matters of the lines of one side.
struct SideFacts {
  double characters = 0, words = 0;  // of a line, on average
  int64_t distinct_words = 0;
  int64_t all_words = 0;
};

/// Of the first 100,000 pairs: more would not change what is chosen.
struct PairFacts {
  int64_t pairs = 0;  // all of them
  SideFacts source, target;
  double shared_letters = 0;  // share of the letters of both sides that both have
};
PairFacts facts_of(const data::Pairs& pairs);

/// For a new model. What is not in `open` was decided, and stands in `data` and `model`.
std::vector<Suggestion> suggest(const PairFacts& facts, const OpenKeys& open, const data::Options& data,
                                const model::Options& model);

}  // namespace heed::task
