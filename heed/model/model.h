// What all models have in common: a loss for training. generator.h has what a search needs.
#pragma once

#include <cstdint>

#include "heed/data/dataset.h"
#include "heed/tensor/op/output_loss.h"

namespace heed::model {

class Generator;  // generator.h

/// Its parameters are in the Parameters it was made with. Any number of threads may use it at once, each with its own
/// tape, as long as nothing changes the parameters.
class Model {
 public:
  virtual ~Model() = default;

  /// Loss of a batch of the task's data: a row per prediction, with the number of correct ones. Throws if the batch
  /// belongs to another task.
  virtual OutputLoss loss(Tape& tape, const data::PackedBatch& batch, const OutputLossOptions& options) const = 0;

  /// For models that generate; null for others.
  virtual const Generator* generator() const { return nullptr; }

  /// The most tokens of a sequence (including a target's END), if the model has a fixed number of positions; otherwise
  /// more than any text has.
  virtual int64_t max_positions() const = 0;
};

}  // namespace heed::model
