// Numbers carried from one use of a tape to the next. They are stored outside it, so that a search may reset the tape
// after every step: only what is stored here survives a step.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "heed/tensor/tape.h"

namespace heed {

/// Row i becomes the former row rows[i]. A row is `stride` numbers, of which the first `used` are valid.
/// Rows that stay where they are cost nothing. A search that orders its hypotheses so that most of them stay pays for
/// the others only; where a row is wanted after another took its place, everything moves to new memory.
void select_rows(std::vector<float>& data, int64_t stride, int64_t used, std::span<const int64_t> rows);

/// [rows, cols]. Empty if there are no columns.
/// Threads: as a std::vector.
class OffTapeMatrix {
 public:
  OffTapeMatrix() = default;
  /// A copy of a tensor, which may be an empty handle.
  explicit OffTapeMatrix(Tensor t);
  OffTapeMatrix(std::vector<float> data, int64_t rows, int64_t cols)
      : data_(std::move(data)), rows_(rows), cols_(cols) {}

  bool empty() const { return cols_ == 0; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  const float* row(int64_t r) const { return data_.data() + r * cols_; }

  /// Copies a tensor into the existing memory; an empty handle leaves it empty.
  void take(Tensor t);
  /// On a tape, without copying: must not be changed before the tape is reset. An empty handle if it is empty.
  Tensor on(Tape& tape) const;
  void select(std::span<const int64_t> rows);

 private:
  std::vector<float> data_;
  int64_t rows_ = 0, cols_ = 0;
};

}  // namespace heed
