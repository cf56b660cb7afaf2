// Work cut into pieces for all threads. The cuts depend on the sizes alone, never on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/kernels/threads.h"

namespace heed {

inline constexpr int64_t kWorthThreads = 32 * 1024;  // elements below which waking threads costs more than it saves
inline constexpr int64_t kPieceElements = 16 * 1024;

/// f(begin, end) for pieces that together are [0, count). `cost`: elements of work in each of the `count` items.
/// f must not throw.
template <class F>
void for_pieces(int64_t count, int64_t cost, const F& f) {
  if (count <= 0) return;
  if (count * cost < kWorthThreads) return f(int64_t{0}, count);
  const int64_t piece = std::max<int64_t>(1, kPieceElements / std::max<int64_t>(1, cost));
  const int64_t pieces = (count + piece - 1) / piece;
  kernels::for_each_task(pieces, kernels::most_threads(),
                         [&](int64_t p) { f(p * piece, std::min(count, (p + 1) * piece)); });
}

}  // namespace heed
