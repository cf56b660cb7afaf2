// How good a model is on data that it was not trained on.
#pragma once

#include <cstdint>
#include <string>

#include "heed/task/task.h"
#include "heed/train/evaluation.h"

namespace heed::train {

struct EvaluateOptions {
  int64_t batch_tokens = 4096;
  int64_t decode = 500;     // sources to decode for metrics; 0: none, -1: all
  int64_t samples = 3;      // outputs to show
  std::string metric = {};  // of heed/text/metric/all.h, for the decoded sources; empty: none
};

/// On the validation data of the corpus, with greedy search.
Evaluation evaluate(const task::Task& task, const task::LoadedModel& asked, const task::Corpus& corpus,
                    const EvaluateOptions& options = {});

}  // namespace heed::train
