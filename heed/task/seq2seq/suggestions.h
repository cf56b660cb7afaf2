// Which tokens, model, batch and metric fit given pairs of lines: what an experienced person would choose after looking
// at the data.
#pragma once

#include <vector>

#include "heed/data/options.h"
#include "heed/data/pairs.h"
#include "heed/model/options.h"
#include "heed/task/suggestion.h"

namespace heed::task {

/// Statistics of the lines of one side.
struct SideFacts {
  double characters = 0, words = 0;  // per line, on average
  int64_t distinct_words = 0;
  int64_t all_words = 0;
};

/// From the first 100,000 pairs: more would not change the choices.
struct PairFacts {
  int64_t pairs = 0;  // all of them
  SideFacts source, target;
  double shared_letters = 0;  // letters that occur on both sides, as a share of all
  double rare_words = 0;      // words of targets that hardly any other target has, as a share of all
  double rare_copied = 0;     // of these: the share whose own source has the word
};
PairFacts facts_of(const data::Pairs& pairs);

/// For a new model. Keys that are not in `open` were given, and are set in `data` and `model`.
std::vector<Suggestion> suggest(const PairFacts& facts, const OpenKeys& open, const data::Options& data,
                                const model::Options& model);

}  // namespace heed::task
