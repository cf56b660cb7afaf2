// The rows of a search's state: hypotheses, those of one sentence below each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed::decode {

/// What State::select() asks of each part of a state.
struct Selection {
  std::span<const int64_t> rows;        // row i becomes what row rows[i] was
  std::vector<int64_t> sentences;       // sentence g becomes what sentence sentences[g] was
  std::vector<int64_t> tokens;          // the same for the rows of their memories; empty where all of them stay
  std::vector<int64_t> row_offsets;     // rows of the sentences before ...
  std::vector<int64_t> memory_offsets;  // ... and of their memories
  std::vector<int64_t> next_row_offsets, next_memory_offsets;  // and after
  bool same_sentences = false;
};

class Groups {
 public:
  Groups() = default;
  /// One row for each sentence of a memory.
  explicit Groups(const Offsets& memory);

  int64_t sentences() const { return static_cast<int64_t>(rows_.size()) - 1; }
  int64_t row_count() const { return rows_.back(); }
  Offsets rows() const { return {rows_.data(), sentences()}; }
  Offsets memory() const { return {memory_.data(), sentences()}; }
  int64_t most() const { return rows().longest(); }  // rows of a sentence

  /// Rows of one sentence that stand below each other stay one group; a sentence without rows is gone.
  Selection select(std::span<const int64_t> rows);

 private:
  std::vector<int64_t> rows_ = {0}, memory_ = {0};
};

}  // namespace heed::decode
