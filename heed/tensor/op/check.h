// What operations check about their inputs, with the messages.
#pragma once

#include <cstdint>

#include "heed/base/error.h"
#include "heed/tensor/tensor.h"

namespace heed {

inline void expect_there(const char* op, const char* name, Tensor t) {
  expect(static_cast<bool>(t), "{}: {} is empty", op, name);
}

inline void expect_shape(const char* op, const char* name, Tensor t, int64_t rows, int64_t cols) {
  expect_there(op, name, t);
  expect(t.rows() == rows && t.cols() == cols, "{}: {} is [{}, {}], expected [{}, {}]", op, name, t.rows(), t.cols(),
         rows, cols);
}

inline void expect_same_shape(const char* op, Tensor a, Tensor b) {
  expect_there(op, "the first tensor", a);
  expect_there(op, "the second tensor", b);
  expect(a.rows() == b.rows() && a.cols() == b.cols(), "{}: [{}, {}] and [{}, {}] must have the same shape", op,
         a.rows(), a.cols(), b.rows(), b.cols());
}

/// Offsets that say how `rows` rows are cut into sequences.
inline void expect_offsets(const char* op, const Offsets& offsets, int64_t rows) {
  expect(static_cast<bool>(offsets), "{}: the offsets are empty", op);
  expect(offsets.at[0] == 0, "{}: the offsets start at {}, not at 0", op, offsets.at[0]);
  for (int64_t b = 0; b < offsets.count; ++b)
    expect(offsets.length(b) >= 0, "{}: sequence {} has the length {}", op, b, offsets.length(b));
  expect(offsets.total() == rows, "{}: there are {} rows, but the offsets cover {}", op, rows, offsets.total());
}

}  // namespace heed
