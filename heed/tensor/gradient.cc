#include "heed/tensor/gradient.h"

#include <algorithm>

namespace heed {

namespace {
constexpr int64_t kColumns = 64;  // summed at once: four cache lines of each row
constexpr int64_t kRows = 64;     // summed before they join the total, so that the error grows with rows / 64 only
}  // namespace

void add_column_sums(GradientSink sink, ConstMatrix x) {
  if (!sink) return;
  const int64_t blocks = (x.cols + kColumns - 1) / kColumns;
  for_pieces(blocks, x.rows * kColumns, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kColumns;
      const int64_t count = std::min(kColumns, x.cols - first);
      float total[kColumns] = {};
      for (int64_t r0 = 0; r0 < x.rows; r0 += kRows) {
        float part[kColumns] = {};
        for (int64_t r = r0; r < std::min(x.rows, r0 + kRows); ++r) {
          const float* row = x.data + r * x.stride + first;
          for (int64_t c = 0; c < count; ++c) part[c] += row[c];
        }
        for (int64_t c = 0; c < count; ++c) total[c] += part[c];
      }
      for (int64_t c = 0; c < count; ++c) {
        float& at = sink.data[first + c];
        at = total[c] + (sink.fresh ? 0.0f : at);
      }
    }
  });
}

void clear_if_fresh(GradientSink& sink, int64_t count) {
  if (!sink || !sink.fresh) return;
  for_pieces(count, 1, [&](int64_t begin, int64_t end) { std::fill(sink.data + begin, sink.data + end, 0.0f); });
  sink.fresh = false;
}

}  // namespace heed
