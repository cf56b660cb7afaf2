// Moves numbers without changing them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "heed/tensor/tensor.h"

namespace heed {

Tensor reshape(Tensor x, int64_t rows, int64_t cols);         // same numbers in the same order; nothing is copied
Tensor transpose(Tensor x);                                   // [n, d] -> [d, n]
Tensor columns(Tensor x, int64_t first, int64_t count);       // [n, d] -> [n, count]
Tensor concat_columns(std::span<const Tensor> parts);         // [n, d1], [n, d2], ... -> [n, d1 + d2 + ...]
Tensor concat_rows(std::span<const Tensor> parts);            // [n1, d], [n2, d], ... -> [n1 + n2 + ..., d]
Tensor gather_rows(Tensor x, std::span<const int64_t> rows);  // row i of the result is x.row(rows[i]); also embedding
Tensor repeat_rows(Tensor x, const Offsets& offsets);         // [B, d] -> [total, d]: row b for every row of sequence b
/// Writes `rows` [B, d] into row b * capacity + at of `cache` [B * capacity, d] for every b. In place: the cache is one
/// tensor that fills step by step, and its gradient flows back to the rows that were written. The backward of anything
/// computed from the cache before must not depend on the new row (attention to the first `at` rows does not).
void write_rows(Tensor cache, Tensor rows, int64_t capacity, int64_t at);
/// A zeroed cache for write_rows(). Its gradient is kept until the backward ends.
Tensor make_cache(Tape& tape, int64_t rows, int64_t cols);

inline Tensor concat_columns(std::initializer_list<Tensor> parts) {
  return concat_columns(std::span<const Tensor>(parts.begin(), parts.size()));
}
inline Tensor concat_rows(std::initializer_list<Tensor> parts) {
  return concat_rows(std::span<const Tensor>(parts.begin(), parts.size()));
}

}  // namespace heed
