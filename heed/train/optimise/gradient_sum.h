// The gradients of the batches of an update, added in a fixed tree.
//
//   sum(first, count) = sum(first, p) + sum(first + p, count - p),    p the largest power of 2 below count
//
// The tree depends on the number of batches alone, so the bits are the same whoever computes which batches. Batches
// that are cut at multiples of a power of 2 and added up apart give nodes of the same tree: their sums, added by the
// same rule, are the sum of all. A chain, one batch after another, could not be shared.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "heed/layer/parameters.h"

namespace heed::optimise {

/// How many gradients of each parameter an update of `count` batches needs at once, the one of the backward included.
int64_t gradients_at_once(int64_t count);

/// Threads: one at a time; nothing else may use the gradients meanwhile.
class GradientSum {
 public:
  explicit GradientSum(Parameters& parameters) : parameters_(&parameters) {}

  /// Starts an update of `count` batches. Gradients that are there are forgotten.
  void begin(int64_t count);

  /// The gradient of a parameter with respect to the loss of the current batch is final. It is taken away, so that the
  /// next batch is computed from nothing; in the last batch it becomes the sum of all.
  void add(Parameter& parameter);

  /// The current batch is over: does the same for all parameters that were not added yet.
  void end_batch();

 private:
  struct Sums {
    std::vector<std::vector<float>> waiting;  // of 2^level batches, by level; empty: no gradient
    std::vector<std::vector<float>> spare;    // memory for others
    int64_t next = 0;                         // the first batch that is not in any of them
  };
  static void add_waiting(std::vector<float>& earlier, Parameter& parameter);

  Parameters* parameters_;
  int64_t count_ = 1, batch_ = 0;
  std::unordered_map<const Parameter*, Sums> sums_;  // stays empty where updates have one batch
};

}  // namespace heed::optimise
