// Examples as a trainer sees them: batches, whatever they are made of. Each kind of task has its own data set.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/batch.h"
#include "heed/data/batches.h"

namespace heed::data {

class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual int64_t size() const = 0;                             // examples
  virtual int64_t line_number(int64_t example) const = 0;       // in its file, from 1, for messages
  virtual int64_t predictions(int64_t example) const = 0;       // the loss is their mean
  virtual int64_t longest_sequence(int64_t example) const = 0;  // tokens that a model needs positions for
  virtual int64_t characters() const { return 0; }              // of running text that is predicted; 0: other data
  virtual std::vector<Indices> batches(const BatchOptions& options, int64_t epoch) const = 0;
  virtual Batch pack(std::span<const int64_t> examples) const = 0;  // in this order
};

}  // namespace heed::data
