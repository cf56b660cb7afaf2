// y[i, (k, c)] = x[i + k - width / 2, c], or 0 outside of the sequence;   d_x[j, c] += sum_k d_y[j - k + width / 2, (k,
// c)]
#include "heed/tensor/op/windows.h"

#include <algorithm>

#include "heed/tensor/gradient.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/tape.h"

namespace heed {

Tensor windows(const Packed& x, int64_t width) {
  expect_there("windows", "x", x.rows);
  const Offsets o = x.offsets;
  const int64_t d = x.rows.cols(), before = width / 2;
  expect(width > 0, "windows: a window of {} rows", width);
  expect(o.total() == x.rows.rows(), "windows: {} rows, but the offsets cover {}", x.rows.rows(), o.total());
  const int64_t work = width * d * std::max<int64_t>(1, o.total() / std::max<int64_t>(1, o.count));
  const Tensor y = x.rows.tape().make_from(o.total(), width * d, x.rows);
  for_pieces(o.count, work, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      for (int64_t i = o.at[b]; i < o.at[b + 1]; ++i)
        for (int64_t k = 0; k < width; ++k) {
          const int64_t from = i + k - before;
          float* to = y.row(i) + k * d;
          if (from >= o.at[b] && from < o.at[b + 1])
            std::copy_n(x.rows.row(from), d, to);
          else
            std::fill_n(to, d, 0.0f);
        }
  });
  y.tape().on_backward([rows = x.rows, y, o, d, width, before, work] {
    const GradientSink d_x = rows.sink();
    const float* d_y = y.gradient();
    for_pieces(o.count, work, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        for (int64_t j = o.at[b]; j < o.at[b + 1]; ++j) {
          float* to = d_x.data + j * d;
          if (d_x.fresh) std::fill_n(to, d, 0.0f);
          for (int64_t k = 0; k < width; ++k) {
            const int64_t i = j - k + before;
            if (i < o.at[b] || i >= o.at[b + 1]) continue;
            const float* from = d_y + (i * width + k) * d;
            for (int64_t c = 0; c < d; ++c) to[c] += from[c];
          }
        }
    });
  });
  return y;
}

}  // namespace heed
