#include "heed/train/optimise/moving_average.h"

#include "heed/tensor/parallel.h"

namespace heed::optimise {

MovingAverage::MovingAverage(Parameters& parameters, float decay) : parameters_(&parameters), decay_(decay) {
  for (const Parameter& p : parameters) averages_.push_back(p.value);
}

void MovingAverage::update(int64_t step) {
  const auto done = static_cast<float>(step);
  const float rate = 1.0f - std::min(decay_, (1.0f + done) / (10.0f + done));
  size_t n = 0;
  for (const Parameter& p : *parameters_) {
    float* average = averages_[n++].data();
    for_pieces(p.size(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) average[i] += rate * (p.value[static_cast<size_t>(i)] - average[i]);
    });
  }
}

void MovingAverage::swap() {
  size_t n = 0;
  for (Parameter& p : *parameters_) p.value.swap(averages_[n++]);
}

}  // namespace heed::optimise
