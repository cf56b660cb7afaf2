// The options of a training run: how it updates, when it ends, how it is validated and what it saves. The options of
// the data and of the model are in their own folders.
#pragma once

#include <cstdint>
#include <string>

#include "heed/train/objective/options.h"
#include "heed/train/optimise/adam.h"
#include "heed/train/optimise/schedule.h"

namespace heed::recipe {

struct TrainerOptions {
  uint64_t seed = 1;            // of the weights, the order of the batches and dropout
  int64_t batch_tokens = 4096;  // per batch, on each side
  int64_t accumulate = 1;       // batches whose gradients make one update
  optimise::ScheduleOptions schedule = {};
  optimise::AdamOptions adam = {.beta2 = 0.98f, .epsilon = 1e-9f};
  float clip = 1.0f;  // largest norm of all gradients together; 0: no clipping
  float label_smoothing = 0.1f;
  objective::Options objective = {};  // what an update minimises
  float average = 0.0f;  // decay of a moving average of the weights, which is then evaluated and saved; 0: none
};

/// When training ends: at the first limit that is reached; 0: no limit.
struct StopOptions {
  int64_t steps = 0;
  int64_t epochs = 0;
  double minutes = 0;
  int64_t patience = 0;  // validations in a row without improvement
};

struct ValidateOptions {
  int64_t every = 500;  // updates
  std::string metric = "loss";
  int64_t decode = 500;   // sources to decode for metrics; 0: none, -1: all
  int64_t longest = 200;  // longest output, in tokens
  int64_t samples = 3;    // outputs to show
};

struct OutputOptions {
  std::string folder = {};
  int64_t keep_last = 3;
  double checkpoint_minutes = 10;
  int64_t log_every = 10;
};

}  // namespace heed::recipe
