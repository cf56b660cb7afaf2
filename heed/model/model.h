// What all models have in common: a loss for training. generator.h and parallel_generator.h have what a search needs.
#pragma once

#include <cstdint>

#include "heed/data/dataset.h"
#include "heed/tensor/op/output_loss.h"

namespace heed::model {

class Generator;          // generator.h
class ParallelGenerator;  // parallel_generator.h

/// Its parameters are in the Parameters it was made with. Any number of threads may use it at once, each with its own
/// tape, as long as nothing changes the parameters.
class Model {
 public:
  virtual ~Model() = default;

  /// Loss of a batch of the task's data: a row per prediction, with the number of correct ones. Throws if the batch
  /// belongs to another task.
  virtual OutputLoss loss(Tape& tape, const data::PackedBatch& batch, const OutputLossOptions& options) const = 0;

  /// For models that generate, step by step or all positions at once; null for others.
  virtual const Generator* generator() const { return nullptr; }
  virtual const ParallelGenerator* parallel_generator() const { return nullptr; }

  /// The most tokens of a sequence (including a target's END), if the model has a fixed number of positions; otherwise
  /// more than any text has.
  virtual int64_t max_positions() const = 0;
  /// The most predictions of an example, such as the tokens of a target and its END.
  virtual int64_t max_predictions() const { return max_positions(); }
};

}  // namespace heed::model
