// Adam and AdamW.
//
//   m = beta1 m + (1 - beta1) g           m^ = m / (1 - beta1^t)
//   v = beta2 v + (1 - beta2) g^2         v^ = v / (1 - beta2^t)
//   w = w - rate * (m^ / (sqrt(v^) + epsilon) + decay w)
// Kingma and Ba 2015; decoupled decay, outside the gradient: Loshchilov and Hutter 2019.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "heed/layer/parameters.h"

namespace heed::optimise {

struct AdamOptions {
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  float decay = 0.0f;          // of the weights
  bool decoupled = true;       // AdamW; false: decay * w is added to the gradient (Adam with an L2 penalty)
  bool decay_vectors = false;  // also parameters of shape [n]: biases and gains
};

/// Threads: one at a time; nothing else may use the parameters meanwhile.
class Adam {
 public:
  explicit Adam(Parameters& parameters, const AdamOptions& options = {});

  /// Updates every parameter that has a gradient, and clears the gradient: the next backward starts from zero. A
  /// parameter without a gradient is unchanged, and so is its t.
  void step(float rate);

  /// The state of a parameter between steps, to save and restore it. Null: no step yet.
  struct Moments {
    std::vector<float> first, second;  // m and v
    int64_t steps = 0;                 // t
  };
  const Moments* find(const Parameter& parameter) const;
  void restore(const Parameter& parameter, Moments moments);

 private:
  Parameters* parameters_;
  AdamOptions options_;
  std::unordered_map<const Parameter*, Moments> moments_;
};

}  // namespace heed::optimise
