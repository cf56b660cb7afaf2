// The search for lines of any task, with one model or with an ensemble.
#pragma once

#include <span>
#include <vector>

#include "heed/search/batches.h"
#include "heed/task/output_rules.h"
#include "heed/task/task.h"

namespace heed::task {

/// A line to predict or to score.
struct SearchLine {
  std::vector<std::vector<int32_t>> sources = {};  // [models] tokens as each model reads them
  int64_t number = 0;                              // of the line
  RulesOfLine rules = {};
};

/// [models] What a search uses of each; of most tasks it is the model itself.
using Generators = std::vector<const model::Generator*>;
Generators generators_of(const LoadedModel& asked);

/// Of each layer that alignments can show, its heads: those of an ensemble have one, the mean.
std::vector<int64_t> alignment_heads(const Generators& generators);

/// [lines] -> [lines]
std::vector<search::Result> search_lines(const Generators& generators, const LoadedModel& asked,
                                         std::span<const SearchLine> lines, const search::Options& options,
                                         const search::BatchLimits& limits = {});

/// What an ensemble says about given targets [lines], tokens with the end; step by step. Each is stored in its
/// PairScore, or why not.
void score_lines(const Generators& generators, const LoadedModel& asked, std::span<const SearchLine> lines,
                 std::span<const std::vector<int32_t>> targets, std::span<PairScore* const> scores);

}  // namespace heed::task
