// Examples as a trainer sees them: batches, whatever they are made of. Each kind of task has its own data set.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/data/batches.h"
#include "heed/data/carried.h"

namespace heed::data {

/// The arrays of a batch, as the loss of a model of the same task reads them.
struct PackedBatch {
  virtual ~PackedBatch() = default;
  /// Example b has the predictions [offsets[b], offsets[b + 1]): target tokens and their end, or a label. [B + 1]
  virtual std::span<const int64_t> prediction_offsets() const = 0;

  /// What the pieces of this batch go on from; the loss of a model that carries a state returns what it leaves for the
  /// next ones. Null: every batch begins anew, and leaves nothing.
  const Carried* carried = nullptr;

  /// Updates of the training run before the one that this batch is for: costs whose weight falls read it.
  int64_t updates_before = 0;
};

class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual int64_t size() const = 0;                             // examples
  virtual int64_t line_number(int64_t example) const = 0;       // in its file, from 1, for messages
  virtual int64_t predictions(int64_t example) const = 0;       // the loss is their mean
  virtual int64_t longest_sequence(int64_t example) const = 0;  // tokens that a model needs positions for
  virtual int64_t characters() const { return 0; }              // of running text that is predicted; 0: other data
  virtual std::vector<Batch> batches(const BatchOptions& options, int64_t epoch) const = 0;
  virtual std::unique_ptr<PackedBatch> pack(std::span<const int64_t> examples) const = 0;  // in this order
};

}  // namespace heed::data
