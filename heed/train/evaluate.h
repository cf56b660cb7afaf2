// How good a model is on data that it was not trained on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/metric/error_rate.h"
#include "heed/metric/exact.h"
#include "heed/metric/metric.h"
#include "heed/task/task.h"

namespace heed::train {

struct EvaluateOptions {
  int64_t batch_tokens = 4096;
  int64_t decode = 500;             // sources to decode for metrics; 0: none, -1: all
  int64_t samples = 3;              // outputs to show
  std::string metric = {};          // of heed/metric/all.h, for the decoded sources; empty: none
  std::string labels_between = {};  // several labels of a text: what stands between them
};

struct Sample {
  std::string source, output, reference;
};

struct Evaluation {
  double nll = 0;                     // per prediction: target token, or label
  double perplexity = 0;              // e^nll
  double token_accuracy = 0;          // under teacher forcing
  double bits_per_character = 0;      // running text; 0: other data
  metric::Accuracy exact;             // of decoded sources; any reference counts
  metric::ErrorRate characters;       // of them
  std::optional<metric::Score> task;  // of them, by the requested metric
  std::vector<Sample> samples;
};

/// On the validation data of the corpus, with greedy search.
Evaluation evaluate(const task::Task& task, const task::LoadedModel& asked, const task::Corpus& corpus,
                    const EvaluateOptions& options = {});

}  // namespace heed::train
