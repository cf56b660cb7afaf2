// From heads that lie side by side, [B * T, H * width], to heads that stand on each other, [B * H * T, width], and
// back.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/tensor/op/arrange.h"

namespace heed::attend::test {

struct Stack {
  int64_t batch, heads, length;

  Tensor stacked(Tensor x) const {
    std::vector<int64_t> from;
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t t = 0; t < length; ++t) from.push_back((b * length + t) * heads + h);
    return gather_rows(reshape(x, x.rows() * heads, x.cols() / heads), from);
  }

  Tensor side_by_side(Tensor x) const {
    std::vector<int64_t> from;
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t t = 0; t < length; ++t)
        for (int64_t h = 0; h < heads; ++h) from.push_back((b * heads + h) * length + t);
    return reshape(gather_rows(x, from), batch * length, heads * x.cols());
  }

  /// A number per query and head: [B * H, T] to [H, B * T].
  Tensor of_rows(Tensor x) const {
    std::vector<int64_t> from;
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t b = 0; b < batch; ++b)
        for (int64_t t = 0; t < length; ++t) from.push_back((b * heads + h) * length + t);
    return reshape(gather_rows(reshape(x, x.size(), 1), from), heads, batch * length);
  }
};

}  // namespace heed::attend::test
