// The probabilities of the targets of a data set, each where its line is answered.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heed/data/dataset.h"
#include "heed/search/score.h"
#include "heed/task/task.h"
#include "heed/task/together_or_each.h"

namespace heed::task {

/// `scores` [examples]: filled in, or their error says why one cannot be scored.
inline void score_examples(const LoadedModel& asked, const data::Dataset& examples,
                           std::span<PairScore* const> scores) {
  if (scores.empty()) return;
  search::TapePool::Lease tape(asked.tapes);
  const auto run = [&](std::span<const int64_t> batch) {
    std::vector<search::Scored> scored = search::score(asked.model, *tape, *examples.pack(batch));
    (*tape).reset();  // nothing on it may outlive the batch
    for (size_t i = 0; i < batch.size(); ++i) {
      PairScore& score = *scores[static_cast<size_t>(batch[i])];
      score.log_probability = scored[i].log_probability;
      score.token_log_probabilities = std::move(scored[i].token_log_probabilities);
    }
  };
  const auto fail = [&](int64_t example, const std::string& error) {
    scores[static_cast<size_t>(example)]->error = error;
  };
  for (const data::Batch& batch : examples.batches({.shuffle = false}, 0))
    together_or_each(std::span<const int64_t>(batch), run, fail);
}

}  // namespace heed::task
