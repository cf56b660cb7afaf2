// Examples as a trainer sees them: batches of them, whatever they are made of. Each kind of task has a data set of its
// own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/data/batches.h"

namespace heed::data {

/// The arrays of a batch, as the loss of a model of the same task reads them.
struct PackedBatch {
  virtual ~PackedBatch() = default;
  /// Example b is asked for the predictions [offsets[b], offsets[b + 1]): target tokens and their end, or a label. [B +
  /// 1]
  virtual std::span<const int64_t> prediction_offsets() const = 0;
};

class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual int64_t size() const = 0;                             // examples
  virtual int64_t line_number(int64_t example) const = 0;       // in its file, from 1, for messages
  virtual int64_t predictions(int64_t example) const = 0;       // what the loss is a mean of
  virtual int64_t longest_sequence(int64_t example) const = 0;  // tokens that a model needs places for
  virtual std::vector<Batch> batches(const BatchOptions& options, int64_t epoch) const = 0;
  virtual std::unique_ptr<PackedBatch> pack(std::span<const int64_t> examples) const = 0;  // in this order
};

}  // namespace heed::data
