// What many backwards end with: adding numbers to a gradient.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/tensor/parallel.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// sink[i] = f(i), or += where something arrived before, for i < count. Nothing where no gradient is wanted.
template <class F>
void add_gradient(GradientSink sink, int64_t count, const F& f) {
  if (!sink) return;
  for_pieces(count, 1, [&](int64_t begin, int64_t end) {
    if (sink.fresh)
      for (int64_t i = begin; i < end; ++i) sink.data[i] = f(i);
    else
      for (int64_t i = begin; i < end; ++i) sink.data[i] += f(i);
  });
}

/// sum_i f(i), in double. Large sums are added from parts whose borders follow from `count` alone, in order: the same
/// bits for any number of threads.
template <class F>
double sum_in_order(int64_t count, const F& f) {
  constexpr int64_t kParts = 64;
  const int64_t length = std::max((count + kParts - 1) / kParts, kPieceElements);
  double parts[kParts] = {};
  for_pieces((count + length - 1) / length, length, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      double sum = 0.0;
      for (int64_t i = p * length; i < std::min(count, (p + 1) * length); ++i) sum += f(i);
      parts[p] = sum;
    }
  });
  double total = 0.0;
  for (const double part : parts) total += part;
  return total;
}

/// A row-major matrix that is only read.
struct ConstMatrix {
  const float* data;
  int64_t rows, cols;
  int64_t stride;  // elements between rows

  ConstMatrix(const float* at, int64_t row_count, int64_t col_count, int64_t between = -1)
      : data(at), rows(row_count), cols(col_count), stride(between < 0 ? col_count : between) {}
};

/// sink[c] (+)= sum_r x[r, c]: the gradient of what was added to every row.
void add_column_sums(GradientSink sink, ConstMatrix x);

/// sink[0] (+)= value
inline void add_number(GradientSink sink, float value) {
  if (sink) *sink.data = value + (sink.fresh ? 0.0f : *sink.data);
}

/// Makes a fresh sink one that can be added to.
void clear_if_fresh(GradientSink& sink, int64_t count);

}  // namespace heed
