// How good a model is on examples it did not learn from.
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
  int64_t decode = 500;     // sources that are decoded for the task metric; 0: none, -1: all
  int64_t samples = 3;      // outputs to show
  std::string metric = {};  // of heed/metric/all.h, for the decoded sources; empty: none
};

struct Sample {
  std::string source, output, reference;
};

struct Evaluation {
  double nll = 0;                     // per prediction: target token, or label
  double perplexity = 0;              // e^nll
  double token_accuracy = 0;          // under teacher forcing
  metric::Accuracy exact;             // of decoded sources; any reference counts
  metric::ErrorRate characters;       // of them
  std::optional<metric::Score> task;  // of them, by the metric that was asked for
  std::vector<Sample> samples;
};

/// On the validation of the corpus. Outputs are the likeliest at every step.
Evaluation evaluate(const task::Task& task, const task::Answering& asked, const task::Corpus& corpus,
                    const EvaluateOptions& options = {});

}  // namespace heed::train
