// The rows of a search: hypotheses, grouped by sequence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed::decode {

/// What State::select() does with each part of a state.
struct RowSelection {
  std::span<const int64_t> rows;          // row i becomes the former row rows[i]
  std::vector<int64_t> sequences;         // sequence g becomes the former sequence sequences[g]
  std::vector<int64_t> memory_rows;       // the same for the rows of their memories; empty if all of them stay
  std::vector<int64_t> row_offsets;       // rows of the sequences before ...
  std::vector<int64_t> memory_offsets;    // ... and of their memories
  std::vector<int64_t> next_row_offsets;  // rows after
  bool same_sequences = false;
};

class HypothesisRows {
 public:
  /// One row for each sequence of a memory.
  explicit HypothesisRows(const Offsets& memory);
  /// One row for each of `sequences` that have no memory but their own output.
  explicit HypothesisRows(int64_t sequences);

  int64_t sequences() const { return static_cast<int64_t>(rows_.size()) - 1; }
  int64_t count() const { return rows_.back(); }
  Offsets offsets() const { return {rows_.data(), sequences()}; }           // of the rows of each sequence
  Offsets memory_offsets() const { return {memory_.data(), sequences()}; }  // of the rows of its memory

  /// Neighbouring rows of one sequence stay one group; a sequence without rows is dropped. Throws if a row does not
  /// exist.
  RowSelection select(std::span<const int64_t> rows);

 private:
  std::vector<int64_t> rows_, memory_;
};

}  // namespace heed::decode
