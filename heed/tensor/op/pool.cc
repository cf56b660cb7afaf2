#include "heed/tensor/op/pool.h"

#include <algorithm>

#include "heed/tensor/gradient.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/tape.h"

namespace heed {

namespace {

/// Sequences are summed from their first row to their last, so the bits do not depend on the threads.
constexpr float share_of(int64_t length) { return length > 0 ? 1.0f / static_cast<float>(length) : 0.0f; }

}  // namespace

// y_b = 1 / n_b sum_i x_i over the n_b rows of sequence b;  d_x_i += d_y_b / n_b
Tensor mean_of_sequences(const Packed& x) {
  expect_there("mean_of_sequences", "x", x.rows);
  const Offsets o = x.offsets;
  expect(o.total() == x.rows.rows(), "mean_of_sequences: {} rows, but the offsets cover {}", x.rows.rows(), o.total());
  Tape& tape = x.rows.tape();
  const int64_t width = x.rows.cols();
  const int64_t work = width * std::max<int64_t>(1, o.total() / std::max<int64_t>(1, o.count));  // of a sequence
  Tensor y = tape.make_from(o.count, width, x.rows);
  for_pieces(o.count, work, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      float* to = y.row(b);
      std::fill_n(to, width, 0.0f);
      for (int64_t i = o.at[b]; i < o.at[b + 1]; ++i)
        for (int64_t c = 0; c < width; ++c) to[c] += x.rows.row(i)[c];
      for (int64_t c = 0; c < width; ++c) to[c] *= share_of(o.length(b));
    }
  });
  tape.on_backward([rows = x.rows, y, o, width, work] {
    const GradientSink d_x = rows.sink();
    const float* d_y = y.gradient();
    for_pieces(o.count, work, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        for (int64_t i = o.at[b]; i < o.at[b + 1]; ++i)
          for (int64_t c = 0; c < width; ++c) {
            const float part = d_y[b * width + c] * share_of(o.length(b));
            float& to = d_x.data[i * width + c];
            to = d_x.fresh ? part : to + part;
          }
    });
  });
  return y;
}

// y_bc = max_i x_ic over the rows of sequence b, first reached in row a_bc;  d_x_ac += d_y_bc
Tensor max_of_sequences(const Packed& x) {
  expect_there("max_of_sequences", "x", x.rows);
  const Offsets o = x.offsets;
  expect(o.total() == x.rows.rows(), "max_of_sequences: {} rows, but the offsets cover {}", x.rows.rows(), o.total());
  Tape& tape = x.rows.tape();
  const int64_t width = x.rows.cols();
  const int64_t work = width * std::max<int64_t>(1, o.total() / std::max<int64_t>(1, o.count));  // of a sequence
  Tensor y = tape.make_from(o.count, width, x.rows);
  for_pieces(o.count, work, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      float* to = y.row(b);
      std::fill_n(to, width, 0.0f);
      for (int64_t i = o.at[b]; i < o.at[b + 1]; ++i)
        for (int64_t c = 0; c < width; ++c) to[c] = i == o.at[b] ? x.rows.row(i)[c] : std::max(to[c], x.rows.row(i)[c]);
    }
  });
  tape.on_backward([rows = x.rows, y, o, width, work] {
    const GradientSink d_x = rows.sink();
    const float* d_y = y.gradient();
    for_pieces(o.count, work, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        if (d_x.fresh) std::fill(d_x.data + o.at[b] * width, d_x.data + o.at[b + 1] * width, 0.0f);
        for (int64_t c = 0; c < width; ++c)
          for (int64_t i = o.at[b]; i < o.at[b + 1]; ++i)
            if (rows.row(i)[c] == y.row(b)[c]) {
              d_x.data[i * width + c] += d_y[b * width + c];
              break;
            }
      }
    });
  });
  return y;
}

}  // namespace heed
