// How a decoding task walks over its keys and values: blocks, the streams of a block, and prefetching.
#if defined(HEED_KERNELS_LOOP_DECODE_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_LOOP_DECODE_BLOCK_INL_H_
#undef HEED_KERNELS_LOOP_DECODE_BLOCK_INL_H_
#else
#define HEED_KERNELS_LOOP_DECODE_BLOCK_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "heed/kernels/loop/tile.h"
#include "heed/kernels/simd/vector-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
inline constexpr int kRowsAtOnce = 2;  // 2 rows x 4 keys, or 2 rows x 4 vectors of values, in 16 registers
#else
inline constexpr int kRowsAtOnce = 4;
#endif

// A task reads its keys and values block by block, keys first. A block is cut into eight streams, whose values are
// summed separately. So the bits do not depend on whether they are read one after another or all at once, and each CPU
// gets its memory in the order that suits it (ReadOrder).
inline constexpr int kStreams = 8;
// The most keys of a block: the shortest part of a memory with four key heads or more (decode_part_keys), and some.
inline constexpr int kBlockKeys = kStreams * 260;
inline constexpr int kLeastCut = 256;  // rows; fewer come from a cache, and eight sums would only take time
// Rows of each stream that are prefetched, if eight are read at once; in order: rows at the end of a range that
// prefetch the start of the next one, which the hardware cannot predict.
inline constexpr int kLead = 30;
inline constexpr int kNextRows = 64;
// Rows that stay in the first-level cache while all queries pass: of each stream, or in order.
inline constexpr int kStreamRows = 6;
inline constexpr int kOrderedRows = kStreams * kStreamRows;
// Values of a stream that are added before the next stream has its turn, where there are several queries.
inline constexpr int kValueTurn = 12;
inline constexpr size_t kScoreStride = PadToLanes(kBlockKeys);

/// Keys or values that are read one after another: a block of them.
struct BlockRows {
  const float* data = nullptr;
  int64_t row = 0;
  int rows = 0;

  explicit operator bool() const { return data != nullptr; }
  const float* at(int64_t r) const { return data + r * row; }
  /// Rows of each stream; the last one has what is left besides. 2 more than a multiple of 4: with rows of 64, 128 or
  /// 256 bytes, the streams then do not all fall on the same sets of a cache.
  /// 0: a short block is not cut.
  int stream() const {
    if (rows < kLeastCut) return 0;
    const int even = rows / kStreams;
    return even - (even - 2) % 4;
  }
};

/// Rows of each block but the last of a task.
HWY_INLINE int64_t KeysOfBlock(int64_t keys) {
  const int64_t blocks = (keys + kBlockKeys - 1) / kBlockKeys;
  return (keys + blocks - 1) / blocks;
}

HWY_INLINE BlockRows BlockAt(Rows rows, int64_t keys, int64_t first) {
  return {rows.data + first * rows.row, rows.row, static_cast<int>(std::min(KeysOfBlock(keys), keys - first))};
}

/// Rows of memory to prefetch: row i is at data + i * row. No data: none.
struct Fetched {
  const float* data = nullptr;
  int64_t row = 0;
  bool far = false;  // into the L2 cache
};

/// What to prefetch while a block is read: more of the block itself, or of what is read after it.
struct BlockPrefetch {
  BlockRows now, next;
  bool fetch, several_queries;

  /// Eight streams, while row r of each is read: row r of the answer is to be asked for, `stride` from stream to
  /// stream. `until`: the first row from which on the answer is another one.
  Fetched in_streams(int r, int& until, int64_t& stride) const {
    const int rows = now.stream(), lead = std::min(kLead, rows);
    if (r < rows - lead) {
      until = std::min(until, rows - lead);
      stride = rows * now.row;
      return fetch ? Fetched{now.at(r + lead), now.row} : Fetched{};
    }
    const int there = next ? next.stream() : 0, at = r + lead - rows;
    if (at < there) until = std::min(until, r + there - at);
    stride = there * next.row;
    return fetch && at < there ? Fetched{next.at(at), next.row} : Fetched{};
  }

  /// In order, while rows from r on are read. One query: the hardware sees what comes next in the block by itself, and
  /// asks for the next row only help it along. Several: between two rows that are new there is too much other work.
  Fetched in_order(int r, int& until) const {
    if (!fetch) return {};
    const int lead = std::min({kNextRows, now.rows, next.rows}), end = now.rows - lead;
    if (r >= end) return {next.at(r - end), next.row, true};
    until = std::min(until, end);
    return several_queries ? Fetched{now.at(r + lead), now.row, true} : Fetched{now.at(r + 1), now.row, false};
  }
};

/// Calls f(fetched, share) for call number `n` of `calls` that read the same rows: it is to fetch every share-th row,
/// beginning with row `fetched`. All of the calls take their part, or the memory would be idle for the later ones. (Of
/// more than four calls the first four.)
template <class F>
HWY_INLINE void WithShare(bool fetch, int n, int calls, F&& f) {
  const auto call = [&](auto share) HWY_ATTR {
    constexpr int kShare = decltype(share)::value;
    fetch&& n < kShare ? f(n, share) : f(0, std::integral_constant<int, 0>());
  };
  if (calls == 1)
    call(std::integral_constant<int, 1>());
  else if (calls < 4)
    call(std::integral_constant<int, 2>());
  else
    call(std::integral_constant<int, 4>());
}

/// f(rows_at_once, first_row, number_of_call, calls) until all rows are done.
template <class F>
HWY_INLINE void ForRows(int rows, F&& f) {
  const int calls = rows / kRowsAtOnce + rows % kRowsAtOnce;
  int r = 0, n = 0;
  for (; r + kRowsAtOnce <= rows; r += kRowsAtOnce) f(std::integral_constant<int, kRowsAtOnce>(), r, n++, calls);
  for (; r < rows; ++r) f(std::integral_constant<int, 1>(), r, n++, calls);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
