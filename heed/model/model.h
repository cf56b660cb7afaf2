// What all models have in common: a loss to train by. What a search needs beside stands in generator.h.
#pragma once

#include <cstdint>

#include "heed/data/dataset.h"
#include "heed/tensor/op/output_loss.h"

namespace heed::model {

class Generator;  // generator.h

/// Its parameters stand in the Parameters that it was made in. Any number of threads may ask it at once, each with a
/// tape of its own, while nobody changes the parameters.
class Model {
 public:
  virtual ~Model() = default;

  /// Of a batch of the task's data: a row for each prediction, with how many were right. Throws where the batch is one
  /// of another task.
  virtual OutputLoss loss(Tape& tape, const data::PackedBatch& batch, const OutputLossOptions& options) const = 0;

  /// For models that write; null for others.
  virtual const Generator* generator() const { return nullptr; }

  /// Tokens of a sequence at most (a target's END included), where the model has a place for each; else more than any
  /// text has.
  virtual int64_t max_positions() const = 0;
};

}  // namespace heed::model
