// What an update did, for whoever follows a training.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace heed::train {

/// What one update did.
struct StepReport {
  int64_t step = 0;                   // from 1
  int64_t epoch = 0;                  // from 1
  double loss = 0;                    // per prediction (target token, label), with label smoothing
  double nll = 0;                     // per prediction, without
  double accuracy = 0;                // of the predictions, under teacher forcing
  std::optional<double> reward = {};  // the mean of the outputs, for objectives that have one
  double norm = 0;                    // of the gradients, before clipping
  float rate = 0;
  int64_t tokens = 0;   // predictions: target tokens and their ends, or labels
  int64_t memory = 0;   // bytes of activations and their gradients, the most in any update so far
  double seconds = 0;   // that the update took
  std::string skipped;  // why the update was skipped: what was not finite; empty: it was done
};

}  // namespace heed::train
