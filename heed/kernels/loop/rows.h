// What is known about each query of a block while its keys are processed. One float per lane, padded to whole vectors.
#pragma once

#include <cstdint>

namespace heed::kernels {

struct RowState {
  // Both directions: weight = f(score - shift) * inverse (softmax), see each normaliser.
  float* shift = nullptr;
  float* inverse = nullptr;
  int32_t* choice = nullptr;     // argmax, sampled: the chosen key, -1 for none
  uint32_t* dropout0 = nullptr;  // the row's own part of the counter-based generator, for dropout ...
  uint32_t* dropout1 = nullptr;
  uint32_t* gumbel0 = nullptr;  // ... and for sampled attention
  uint32_t* gumbel1 = nullptr;
  float* centre = nullptr;  // local attention

  // Forward
  float* norm = nullptr;      // running sum of weights (or count of visible keys)
  float* rescale = nullptr;   // what earlier sums must be multiplied by after the shift moved
  float* surprise = nullptr;  // running sum of weight * (score - shift), for the entropy
  float* cost = nullptr;      // running guide cost

  // Backward: d_score = slope * (d_weight - delta), and other incoming gradients
  float* delta = nullptr;
  float* slope_sum = nullptr;  // sum of slopes, of slopes * d_weight: for normalisers that need a pass of their own
  float* slope_d = nullptr;
  float* entropy = nullptr;
  float* d_entropy = nullptr;
  float* d_log_prob = nullptr;
  float* d_cost = nullptr;
  float* d_centre = nullptr;
};

}  // namespace heed::kernels
