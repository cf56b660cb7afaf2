#include "heed/tensor/op/pool.h"

#include <algorithm>
#include <vector>

#include "heed/base/error.h"
#include "heed/tensor/gradient.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/tape.h"

namespace heed {

namespace {

/// Sequences are summed from their first row to their last, so the bits do not depend on the threads.
constexpr float share_of(int64_t length) { return length > 0 ? 1.0f / static_cast<float>(length) : 0.0f; }

/// What pooling writes to, and how much work a sequence is.
struct Pooled {
  Tensor y;
  int64_t width, work;
};

Pooled make_pooled(const char* name, const Packed& x) {
  expect_there(name, "x", x.rows);
  const Offsets& o = x.offsets;
  expect(o.total() == x.rows.rows(), "{}: {} rows, but the offsets cover {}", name, x.rows.rows(), o.total());
  const int64_t width = x.rows.cols();
  return {x.rows.tape().make_from(o.count, width, x.rows), width,
          width * std::max<int64_t>(1, o.total() / std::max<int64_t>(1, o.count))};
}

}  // namespace

// y_b = 1 / n_b sum_i x_i over the n_b rows of sequence b;  d_x_i += d_y_b / n_b
Tensor mean_of_sequences(const Packed& x) {
  const Pooled pooled = make_pooled("mean_of_sequences", x);
  const Tensor y = pooled.y;
  const int64_t width = pooled.width, work = pooled.work;
  const Offsets o = x.offsets;
  for_pieces(o.count, work, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      float* to = y.row(b);
      std::fill_n(to, width, 0.0f);
      for (int64_t i = o.at[b]; i < o.at[b + 1]; ++i)
        for (int64_t c = 0; c < width; ++c) to[c] += x.rows.row(i)[c];
      for (int64_t c = 0; c < width; ++c) to[c] *= share_of(o.length(b));
    }
  });
  y.tape().on_backward([rows = x.rows, y, o, width, work] {
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
  const Pooled pooled = make_pooled("max_of_sequences", x);
  const Tensor y = pooled.y;
  const int64_t width = pooled.width, work = pooled.work;
  const Offsets o = x.offsets;
  for_pieces(o.count, work, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      float* to = y.row(b);
      std::fill_n(to, width, 0.0f);
      for (int64_t i = o.at[b]; i < o.at[b + 1]; ++i)
        for (int64_t c = 0; c < width; ++c) to[c] = i == o.at[b] ? x.rows.row(i)[c] : std::max(to[c], x.rows.row(i)[c]);
    }
  });
  y.tape().on_backward([rows = x.rows, y, o, width, work] {
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

Tensor first_of_sequences(const Packed& x) {
  std::vector<int64_t> rows;
  for (int64_t b = 0; b < x.offsets.count; ++b) {
    expect(x.offsets.length(b) > 0, "first_of_sequences: sequence {} is empty", b);
    rows.push_back(x.offsets.at[b]);
  }
  return gather_rows(x.rows, rows);
}

}  // namespace heed
