#include "heed/tensor/off_tape_matrix.h"

#include <algorithm>

namespace heed {

namespace {

/// Done from the first row to the last, no row is read after it was written over.
bool can_stay(std::span<const int64_t> rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto from = static_cast<size_t>(rows[i]);
    if (from < i && rows[from] != rows[i]) return false;
  }
  return true;
}

}  // namespace

void select_rows(std::vector<float>& data, int64_t stride, int64_t used, std::span<const int64_t> rows) {
  const size_t wanted = rows.size() * static_cast<size_t>(stride);
  if (can_stay(rows)) {
    if (data.size() < wanted) data.resize(wanted);
    for (size_t i = 0; i < rows.size(); ++i)
      if (rows[i] != static_cast<int64_t>(i))
        std::copy_n(data.begin() + rows[i] * stride, used, data.begin() + static_cast<int64_t>(i) * stride);
    data.resize(wanted);
    return;
  }
  std::vector<float> next(wanted);
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy_n(data.begin() + rows[i] * stride, used, next.begin() + static_cast<int64_t>(i) * stride);
  data = std::move(next);
}

OffTapeMatrix::OffTapeMatrix(Tensor t) { take(t); }

void OffTapeMatrix::take(Tensor t) {
  rows_ = t ? t.rows() : 0;
  cols_ = t ? t.cols() : 0;
  if (t)
    data_.assign(t.data(), t.data() + t.size());
  else
    data_.clear();
}

Tensor OffTapeMatrix::on(Tape& tape) const { return empty() ? Tensor() : tape.input(data_.data(), rows_, cols_); }

void OffTapeMatrix::select(std::span<const int64_t> rows) {
  if (empty()) return;
  select_rows(data_, cols_, cols_, rows);
  rows_ = static_cast<int64_t>(rows.size());
}

}  // namespace heed
