#include "heed/tensor/op/coverage.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/tensor/gradient.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/tape.h"

namespace heed {

namespace {

/// The weights of a head, or the mean of all.
struct ChosenHeads {
  Tensor weights;
  int64_t rows, head;

  int64_t heads() const { return weights.rows() / rows; }
  int64_t first() const { return head < 0 ? 0 : head; }
  int64_t last() const { return head < 0 ? heads() - 1 : head; }
  float share() const { return 1.0f / static_cast<float>(last() - first() + 1); }
  float at(int64_t row, int64_t key) const {
    float sum = 0.0f;
    for (int64_t h = first(); h <= last(); ++h) sum += weights.row(h * rows + row)[key];
    return sum * share();
  }
};

}  // namespace

Tensor coverage_cost(Tensor weights, const Offsets& targets, int64_t head) {
  expect_there("coverage_cost", "weights", weights);
  const int64_t rows = targets.total(), keys = weights.cols();
  expect(rows > 0 && weights.rows() % rows == 0 && head < weights.rows() / rows,
         "coverage_cost: the weights have {} rows; there are {} rows of targets, and head {} is asked for",
         weights.rows(), rows, head);
  Tape& tape = weights.tape();
  const ChosenHeads a{weights, rows, head};
  const Tensor cost = tape.make_from(1, 1, weights);
  // Where a weight is the smaller one, it has the slope 1; otherwise all weights before it have. So the slope of a_ti
  // is [a_ti <= c_ti] + the number of later rows whose weight is above their sum.
  float* slopes = weights.needs_gradient() ? tape.keep<float>(rows * keys) : nullptr;
  double sum = 0.0;
  for (int64_t b = 0; b < targets.count; ++b)
    for (int64_t j = 0; j < keys; ++j) {
      double seen = 0.0;
      for (int64_t r = targets.at[b]; r < targets.at[b + 1]; ++r) {
        const double here = a.at(r, j);
        sum += std::min(here, seen);
        if (slopes) slopes[r * keys + j] = here <= seen ? 1.0f : 0.0f;
        seen += here;
      }
      float later = 0.0f;
      for (int64_t r = targets.at[b + 1] - 1; slopes && r >= targets.at[b]; --r) {
        const bool smaller = slopes[r * keys + j] != 0.0f;
        slopes[r * keys + j] += later;
        if (!smaller) later += 1.0f;
      }
    }
  *cost.data() = static_cast<float>(sum);
  tape.on_backward([=] {
    const float factor = *cost.gradient() * a.share();
    add_gradient(weights.sink(), weights.size(), [=](int64_t i) {
      const int64_t h = i / (rows * keys);
      return h >= a.first() && h <= a.last() ? factor * slopes[i % (rows * keys)] : 0.0f;
    });
  });
  return cost;
}

Tensor weight_on_columns(Tensor weights, int64_t rows, const int64_t* offsets, const int32_t* columns) {
  expect_there("weight_on_columns", "weights", weights);
  expect(rows > 0 && weights.rows() % rows == 0, "weight_on_columns: {} rows of weights for {} rows", weights.rows(),
         rows);
  Tape& tape = weights.tape();
  const int64_t heads = weights.rows() / rows;
  const Tensor on = tape.make_from(heads, rows, weights);
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t r = 0; r < rows; ++r) {
      float sum = 0.0f;
      for (int64_t n = offsets[r]; n < offsets[r + 1]; ++n) sum += weights.row(h * rows + r)[columns[n]];
      on.row(h)[r] = sum;
    }
  tape.on_backward([=] {
    const float* d_on = on.gradient();
    const GradientSink sink = weights.sink();
    if (!sink) return;
    if (sink.fresh) std::fill_n(sink.data, weights.size(), 0.0f);
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t n = offsets[r]; n < offsets[r + 1]; ++n)
          sink.data[(h * rows + r) * weights.cols() + columns[n]] += d_on[h * rows + r];
  });
  return on;
}

}  // namespace heed
