// A search for any number of sources: in batches of similar lengths, the longest first, with results in input order.
#pragma once

#include "heed/model/search/search.h"
#include "heed/model/search/tape_pool.h"

namespace heed::search {

struct BatchLimits {
  // Of the sources of a batch, each counted once for each of its hypotheses; a longer one gets its own batch. A
  // Transformer-Tiny over 1,000 sentences, two threads, needed 55 MB with 192, 60 with 256 and 74 with 512; greedy
  // search was equally fast with each.
  int64_t tokens = 192;
  int64_t sentences = 0;  // 0: no limit
};

/// Like search(), in batches. Sentences draw and rank as they do alone, so the limits only affect speed and memory. The
/// longest come first: a search that does not fit into memory fails at once.
///
/// Each thread works alone on its own batch: a step is too short to be worth synchronising threads. The cuts depend on
/// the sizes alone, so the number of threads does not change a bit.
std::vector<Result> search_all(const model::Generator& generator, TapePool& tapes, const Input& input,
                               const Options& options, const BatchLimits& limits = {});
std::vector<Result> search_all(const model::ParallelGenerator& generator, TapePool& tapes, const Input& input,
                               const Options& options, const BatchLimits& limits = {});

}  // namespace heed::search
