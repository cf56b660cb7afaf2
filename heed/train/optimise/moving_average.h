// A slow copy of the parameters: average <- decay * average + (1 - decay) * value after every step.   Polyak and
// Juditsky 1992
#pragma once

#include <cstdint>
#include <vector>

#include "heed/layer/parameters.h"

namespace heed::optimise {

/// Threads: one at a time; nothing else may use the parameters meanwhile.
class MovingAverage {
 public:
  MovingAverage(Parameters& parameters, float decay);

  /// average += (1 - d) (value - average) with d = min(decay, (1 + step) / (10 + step)): early values, far from the
  /// final ones, are soon forgotten. `step`: updates done, from 1.
  void update(int64_t step);
  /// Swaps average and values: to evaluate or save the average, then to go back.
  void swap();

  std::vector<std::vector<float>>& averages() { return averages_; }  // in the order of the parameters
  const std::vector<std::vector<float>>& averages() const { return averages_; }

 private:
  Parameters* parameters_;
  float decay_;
  std::vector<std::vector<float>> averages_;
};

}  // namespace heed::optimise
