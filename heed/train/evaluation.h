// How good a model was on data that it was not trained on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/text/metric/error_rate.h"
#include "heed/text/metric/exact.h"
#include "heed/text/metric/metric.h"

namespace heed::train {

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

}  // namespace heed::train
