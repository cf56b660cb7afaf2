// The options of a training: how it updates, when it ends, how it is validated and what it keeps. Those of the data and
// of the model stand with them.
#pragma once

#include <cstdint>
#include <string>

#include "heed/optimise/adam.h"
#include "heed/optimise/schedule.h"

namespace heed::recipe {

struct TrainerOptions {
  uint64_t seed = 1;            // of the order of the batches and of dropout
  int64_t batch_tokens = 4096;  // of a batch, on each side
  int64_t accumulate = 1;       // batches whose gradients make one update
  optimise::ScheduleOptions schedule;
  optimise::AdamOptions adam = {.beta2 = 0.98f, .epsilon = 1e-9f};
  float clip = 1.0f;  // largest norm of all gradients together; 0: no limit
  float label_smoothing = 0.1f;
  float average = 0.0f;  // decay of the moving average of the weights that is evaluated and saved; 0: none
};

/// When a training ends. The first limit that is reached counts; 0: no limit.
struct StopOptions {
  int64_t steps = 0;
  int64_t epochs = 0;
  double minutes = 0;
  int64_t patience = 0;  // validations in a row that are no better than the best
};

struct ValidateOptions {
  int64_t every = 500;  // updates
  std::string metric = "loss";
  int64_t decode = 500;   // sources that are decoded for metrics; 0: none, -1: all
  int64_t longest = 200;  // tokens of an output
  int64_t samples = 3;    // outputs to show
};

struct OutputOptions {
  std::string folder;
  int64_t keep_last = 3;
  double checkpoint_minutes = 10;
  int64_t log_every = 10;
};

}  // namespace heed::recipe
