// A slow copy of the parameters: average <- decay * average + (1 - decay) * value after every step.   Polyak and
// Juditsky 1992
#pragma once

#include <vector>

#include "heed/layer/parameters.h"

namespace heed::train {

class MovingAverage {
 public:
  MovingAverage(Parameters& parameters, float decay);

  void update();
  /// Exchanges average and values: to evaluate or save the average, then back.
  void swap();

  std::vector<std::vector<float>>& averages() { return averages_; }  // in the order of the parameters
  const std::vector<std::vector<float>>& averages() const { return averages_; }

 private:
  Parameters* parameters_;
  float decay_;
  std::vector<std::vector<float>> averages_;
};

}  // namespace heed::train
