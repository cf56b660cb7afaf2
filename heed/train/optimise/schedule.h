// The learning rate of each step.
#pragma once

#include <cstdint>
#include <string>

namespace heed::optimise {

struct ScheduleOptions {
  std::string kind =
      "inverse_sqrt";     // constant; inverse_sqrt (Vaswani et al. 2017); cosine (Loshchilov and Hutter 2017)
  float peak = 1e-3f;     // the largest rate, reached at the end of the warm-up
  float floor = 0.0f;     // cosine: where it ends
  int64_t warmup = 1000;  // steps of the linear warm-up from 0 to the peak
  int64_t steps = 0;      // cosine: steps of the whole training run
};

///   warm-up:       peak * step / warmup
///   constant:      peak
///   inverse_sqrt:  peak * sqrt(warmup / step)
///   cosine:        floor + (peak - floor) * (1 + cos(pi * (step - warmup) / (steps - warmup))) / 2
/// `step` counts from 1.
float learning_rate(const ScheduleOptions& options, int64_t step);

}  // namespace heed::optimise
