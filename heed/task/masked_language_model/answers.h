// What a model of masked tokens says: which tokens a text lacks, and how likely a text is.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heed/task/task.h"

namespace heed::task {

/// [lines] -> [lines]: each with a token for every [MASK] in it. Output k has the token that is k-th likeliest in each
/// place by itself; its probability is the product of theirs. A line that lacks nothing comes back as it is.
std::vector<Prediction> fill_in(const LoadedModel& asked, std::span<const std::string> lines,
                                const PredictOptions& options);

/// [pairs] -> [pairs]: the pseudo-log-likelihood of each target behind its source, which may be empty: the sum of the
/// log-probabilities of its tokens, each from all others.  Salazar et al. 2020
std::vector<PairScore> score_masked(const LoadedModel& asked, std::span<const TextPair> pairs);

/// How many masked tokens of the texts in a file are found, with the masks of seed 0.
TextScore score_masked_file(const LoadedModel& asked, const std::filesystem::path& file,
                            const std::function<void(int64_t)>& done);

}  // namespace heed::task
