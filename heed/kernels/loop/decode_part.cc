#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/loop/decode_part.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <type_traits>

#include "heed/kernels/exact_math.h"
#include "heed/kernels/loop/decode_part.h"
#include "heed/kernels/simd/dots-inl.h"
#include "heed/kernels/simd/math-inl.h"
#include "heed/kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
inline constexpr int kRowsAtOnce = 2;  // 2 rows x 4 keys, or 2 rows x 4 vectors of values, in 16 registers
#else
inline constexpr int kRowsAtOnce = 4;
#endif

// A task reads its keys from eight places at once, an eighth of them apart, and its values likewise. The memory gives
// one stream two thirds of what it gives eight (docs/kernels.md).
inline constexpr int kStreams = 8;

// Rows of a stream that make a block: their scores are kept, and while keys are read their values are fetched.
inline constexpr int kStreamRows = 30;
// Values that stay in the first-level cache while all rows and columns pass.
inline constexpr int kValueRows = 6;
// Behind the streams there is a rest of less than 40 keys.
inline constexpr size_t kScoreStride = PadToLanes(kStreams * kStreamRows + 40);

/// Keys from one stream to the next. 2 more than a multiple of 4: with rows of 64, 128 or 256 bytes, the streams then
/// do not all fall on the same sets of a cache.
HWY_INLINE int64_t StreamKeys(int64_t keys) {
  const int64_t even = keys / kStreams;
  return even < 2 ? 0 : even - (even - 2) % 4;
}

/// `groups` times eight rows: row s of group g stands at data + g * step + s * row.
struct Groups {
  const float* data = nullptr;
  int64_t step = 0, row = 0;
  int groups = 0;

  Groups from(int g) const { return {data + g * step, step, row, groups - g}; }
};

/// A block of rows: `groups` from the streams, then the rest of the task's rows in order, where the block is the last.
struct BlockRows {
  Groups streams;
  Groups rest;
  Rows single;  // fewer than eight that are left
  int singles = 0;

  int count() const { return kStreams * (streams.groups + rest.groups) + singles; }
};

HWY_INLINE BlockRows BlockAt(Rows rows, int64_t keys, int64_t first) {
  const int64_t stream = StreamKeys(keys), row = rows.row;
  BlockRows block;
  block.streams = {rows.data + first * row, row, stream * row,
                   static_cast<int>(std::min<int64_t>(kStreamRows, stream - first))};
  if (first + kStreamRows < stream) return block;
  const int64_t at = kStreams * stream, left = keys - at;
  block.rest = {rows.data + at * row, kStreams * row, row, static_cast<int>(left / kStreams)};
  block.single = rows.from(at + left / kStreams * kStreams);
  block.singles = static_cast<int>(left % kStreams);
  return block;
}

/// Calls f(fetched, share) for call number `n` of `calls` that read the same rows: it is to fetch every share-th row,
/// beginning with row `fetched` of each kStreams. All of the calls take their part, or the memory would be idle for the
/// later ones. (Of more than four calls the first four.)
template <class F>
HWY_INLINE void WithShare(int n, int calls, F&& f) {
  const auto call = [&](auto share) HWY_ATTR {
    constexpr int kShare = decltype(share)::value;
    n < kShare ? f(n * (kStreams / kShare), share) : f(0, std::integral_constant<int, 0>());
  };
  if (calls == 1)
    call(std::integral_constant<int, 1>());
  else if (calls < 4)
    call(std::integral_constant<int, 2>());
  else
    call(std::integral_constant<int, 4>());
}

/// scores[r][...] of kRows queries and some groups of kStreams keys, kKeys of them at a time. kShare: of each kStreams
/// rows of `fetch` one in kShare is fetched; 0: none.
template <int kRows, int kKeys, int kShare>
void GroupScores(const float* HWY_RESTRICT q, size_t dim, Groups k, Groups fetch, float* HWY_RESTRICT scores) {
  const hn::CappedTag<float, kKeys> d;
  constexpr int kFetch = kShare > 0 ? kKeys / kShare : 0;
  for (int g = 0; g < k.groups; ++g)
    for (int n = 0; n < kStreams / kKeys; ++n, scores += kKeys) {
      HWY_ALIGN float found[kRows * kKeys];
      Dots<kRows, kKeys, kFetch>(q, PadToLanes(dim), k.data + g * k.step + n * kKeys * k.row, k.row, dim,
                                 {fetch.data + g * fetch.step + n * kFetch * fetch.row, fetch.row}, found);
      for (int i = 0; i < kRows; ++i)
        for (size_t at = 0; at < kKeys; at += hn::MaxLanes(d))
          hn::StoreU(hn::LoadU(d, found + i * kKeys + at), d, scores + i * kScoreStride + at);
    }
}

/// f(rows_at_once, first_row, number_of_call, calls) until all rows are done.
template <class F>
HWY_INLINE void ForRows(int rows, F&& f) {
  const int calls = rows / kRowsAtOnce + rows % kRowsAtOnce;
  int r = 0, n = 0;
  for (; r + kRowsAtOnce <= rows; r += kRowsAtOnce) f(std::integral_constant<int, kRowsAtOnce>(), r, n++, calls);
  for (; r < rows; ++r) f(std::integral_constant<int, 1>(), r, n++, calls);
}

/// scores[r][...] of the rows of a block, for all queries; meanwhile as many rows of `next` are fetched.
void BlockScores(const DecodePart& p, const float* q, const BlockRows& k, const BlockRows& next, float* scores) {
  const size_t q_row = PadToLanes(p.dim);
  const auto groups = [&](const Groups& from, const Groups& ahead) HWY_ATTR {
    const int at_once = p.rows == 1 ? kStreamRows : kValueRows;
    for (int g = 0; g < from.groups; g += at_once) {
      Groups some = from.from(g);
      some.groups = std::min(at_once, some.groups);
      ForRows(p.rows, [&](auto rows_at_once, int r, int call, int calls) HWY_ATTR {
        constexpr int kRows = decltype(rows_at_once)::value, kKeys = kRows == 1 ? 8 : 4;
        if (g + some.groups > ahead.groups)
          return GroupScores<kRows, kKeys, 0>(q + r * q_row, p.dim, some, {}, scores + r * kScoreStride);
        WithShare(call, calls, [&](int fetched, auto share) HWY_ATTR {
          Groups fetch = ahead.from(g);
          fetch.data += fetched * fetch.row;
          GroupScores<kRows, kKeys, decltype(share)::value>(q + r * q_row, p.dim, some, fetch,
                                                            scores + r * kScoreStride);
        });
      });
      scores += kStreams * some.groups;
    }
  };
  groups(k.streams, next.streams);
  groups(k.rest, next.rest);
  for (int n = 0; n < k.singles; ++n, ++scores)
    for (int r = 0; r < p.rows; ++r)
      Dots<1, 1, 0>(q + r * q_row, q_row, k.single.at(n, 0), 0, p.dim, {}, scores + r * kScoreStride);
}

/// Scores of a row become weights; the shift moves, and what was summed before is rescaled, as in
/// normalise/softmax.cc. Behind the last key the row is filled up with zeros.
template <bool kEntropy>
void RowWeights(float* HWY_RESTRICT scores, int keys, const DecodeSums& sums, int r, size_t padded) {
  constexpr float kSlack = 8.0f;
  const F32 d;
  const int padded_keys = static_cast<int>(PadToLanes(keys));
  for (int n = keys; n < padded_keys; ++n) scores[n] = kMinusInfinity;
  // Two chains: one would wait for the latency of each maximum.
  V32 most_lanes = hn::LoadU(d, scores), most_odd = most_lanes;
  int j = kLanes;
  for (; j + static_cast<int>(kLanes) < padded_keys; j += 2 * kLanes) {
    most_lanes = hn::Max(most_lanes, hn::LoadU(d, scores + j));
    most_odd = hn::Max(most_odd, hn::LoadU(d, scores + j + kLanes));
  }
  if (j < padded_keys) most_lanes = hn::Max(most_lanes, hn::LoadU(d, scores + j));
  most_lanes = hn::Max(most_lanes, most_odd);
  const float before = sums.shift[r];
  const float most = std::max(hn::GetLane(hn::MaxOfLanes(d, most_lanes)), before);
  const float shift = most <= before + kSlack ? before : most;
  const float base = shift == kMinusInfinity ? 0.0f : shift;
  if (shift != before && before != kMinusInfinity) {
    const float factor = static_cast<float>(exact::exp(before - base));
    if constexpr (kEntropy) sums.surprise[r] = (sums.surprise[r] + (before - base) * sums.norm[r]) * factor;
    sums.norm[r] *= factor;
    for (size_t c = 0; c < padded; c += kLanes) {
      float* at = sums.out + r * padded + c;
      hn::StoreU(hn::Mul(hn::Set(d, factor), hn::LoadU(d, at)), d, at);
    }
  }
  const V32 from = hn::Set(d, base);
  V32 sum = hn::Zero(d), surprise = hn::Zero(d);
  for (j = 0; j < padded_keys; j += kLanes) {
    const V32 x = hn::Sub(hn::LoadU(d, scores + j), from);
    const V32 e = Exp(x);
    hn::StoreU(e, d, scores + j);
    sum = hn::Add(sum, e);
    if constexpr (kEntropy) surprise = hn::Add(surprise, hn::IfThenElseZero(hn::Gt(e, hn::Zero(d)), hn::Mul(e, x)));
  }
  sums.shift[r] = shift;
  sums.norm[r] += hn::GetLane(hn::SumOfLanes(d, sum));
  if constexpr (kEntropy) sums.surprise[r] += hn::GetLane(hn::SumOfLanes(d, surprise));
}

/// out[r][...] += sum_j weights[r][j] values[j][...], kRows rows by kVecs vectors of columns, over groups of kKeys
/// keys. kSums: keys whose sums are kept apart, where there would be too few to hide the latency of the multiply-add.
/// `left`: columns of the last vector, where it is not whole.
template <int kRows, int kVecs, int kSums, int kKeys, bool kPart, int kShare>
void AddValues(const float* HWY_RESTRICT weights, Groups values, Groups fetch, size_t left, float* HWY_RESTRICT out,
               size_t padded) {
  const F32 d;
  V32 sum[kSums][kRows][kVecs];
#pragma GCC unroll 4
  for (int s = 0; s < kSums; ++s)
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < kVecs; ++v) sum[s][r][v] = hn::Zero(d);
  for (int g = 0; g < values.groups; ++g, weights += kKeys) {
    const float* at = values.data + g * values.step;
    const float* ahead = fetch.data + g * fetch.step;
#pragma GCC unroll 8
    for (int k = 0; k < kKeys; ++k, at += values.row) {
      V32 value[kVecs];
#pragma GCC unroll 8
      for (int v = 0; v < kVecs; ++v) {
        value[v] = kPart && v + 1 == kVecs ? LoadPart(at + v * kLanes, left) : hn::LoadU(d, at + v * kLanes);
        if constexpr (kRows > 1) KeepLoaded(value[v]);
      }
      if constexpr (kShare > 0) {
        if (k % kShare == 0) {
#pragma GCC unroll 8
          for (size_t c = 0; c < kVecs * kLanes; c += kLineFloats) __builtin_prefetch(ahead + c, 0, 3);
          ahead += fetch.row;
        }
      }
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const V32 weight = hn::Set(d, weights[r * kScoreStride + k]);
#pragma GCC unroll 8
        for (int v = 0; v < kVecs; ++v) sum[k % kSums][r][v] = hn::MulAdd(weight, value[v], sum[k % kSums][r][v]);
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) {
      V32 all = sum[0][r][v];
#pragma GCC unroll 4
      for (int s = 1; s < kSums; ++s) all = hn::Add(all, sum[s][r][v]);
      float* at = out + r * padded + v * kLanes;
      hn::StoreU(hn::Add(hn::LoadU(d, at), all), d, at);
    }
}

/// All rows and columns of some groups; `fetch` has as many groups, or no data.
template <int kKeys>
void GroupValues(const DecodePart& p, const float* weights, const Groups& v, const Groups& fetch) {
  const size_t padded = PadToLanes(p.value_dim), vectors = padded / kLanes;
  const size_t left = p.value_dim - (vectors - 1) * kLanes;
  ForRows(p.rows, [&](auto rows_at_once, int r, int call, int calls) HWY_ATTR {
    constexpr int kRows = decltype(rows_at_once)::value;
    size_t n = 0;
    const auto panel = [&](auto vecs, auto sums) HWY_ATTR {
      constexpr int kVecs = decltype(vecs)::value, kSums = decltype(sums)::value;
      const size_t c = n * kLanes;
      Groups values = v;
      values.data += c;
      float* out = p.sums.out + r * padded + c;
      const float* w = weights + r * kScoreStride;
      if (n + kVecs == vectors && left < kLanes)
        AddValues<kRows, kVecs, kSums, kKeys, true, 0>(w, values, {}, left, out, padded);
      else if (kKeys != kStreams || !fetch.data)
        AddValues<kRows, kVecs, kSums, kKeys, false, 0>(w, values, {}, left, out, padded);
      else
        WithShare(call, calls, [&](int fetched, auto share) HWY_ATTR {
          Groups next = fetch;
          next.data += fetched * fetch.row + static_cast<int64_t>(c);
          AddValues<kRows, kVecs, kSums, kKeys, false, decltype(share)::value>(w, values, next, left, out, padded);
        });
      n += kVecs;
    };
    using One = std::integral_constant<int, 1>;
    using Two = std::integral_constant<int, 2>;
    // Sums are kept apart the same way for every kRows: the bits of a row do not depend on how many there are.
    if constexpr (kRows == 1)
      while (n + 8 <= vectors) panel(std::integral_constant<int, 8>(), One());
    while (n + 4 <= vectors) panel(std::integral_constant<int, 4>(), One());
    while (n < vectors) panel(One(), Two());
  });
}

/// Adds the values of a block; meanwhile as many rows of `next` are fetched.
void BlockValues(const DecodePart& p, const float* weights, const BlockRows& v, const BlockRows& next) {
  const auto groups = [&](const Groups& from, const Groups& ahead) HWY_ATTR {
    for (int g = 0; g < from.groups; g += kValueRows) {
      Groups some = from.from(g);
      some.groups = std::min(kValueRows, some.groups);
      GroupValues<kStreams>(p, weights, some, g + some.groups <= ahead.groups ? ahead.from(g) : Groups{});
      weights += kStreams * some.groups;
    }
  };
  groups(v.streams, next.streams);
  groups(v.rest, next.rest);
  if (v.singles > 0) GroupValues<1>(p, weights, {v.single.data, v.single.row, 0, v.singles}, {});
}

void Decode(const DecodePart& p) {
  const size_t q_row = PadToLanes(p.dim), padded = PadToLanes(p.value_dim);
  float* q = p.scratch;
  float* scores = p.scratch + p.rows * q_row;
  for (int r = 0; r < p.rows; ++r)
    PackRows({p.q.at(0, r / p.queries, r % p.queries), p.q.row, p.q.col}, 1, p.dim, p.scale, q + r * q_row, q_row);
  std::fill_n(p.sums.shift, p.rows, kMinusInfinity);
  std::fill_n(p.sums.norm, p.rows, 0.0f);
  std::fill_n(p.sums.surprise, p.rows, 0.0f);
  std::fill_n(p.sums.out, p.rows * padded, 0.0f);
  const auto weights = p.entropy ? RowWeights<true> : RowWeights<false>;
  const int64_t stream = StreamKeys(p.keys);
  int64_t first = 0;
  do {
    const BlockRows k = BlockAt(p.k, p.keys, first), v = BlockAt(p.v, p.keys, first);
    // While the keys are read their values are fetched, and while the values are read the keys that come next.
    BlockScores(p, q, k, p.fetch ? v : BlockRows{}, scores);
    for (int r = 0; r < p.rows; ++r) weights(scores + r * kScoreStride, k.count(), p.sums, r, padded);
    first += kStreamRows;
    BlockRows next;
    if (p.fetch && first < stream)
      next = BlockAt(p.k, p.keys, first);
    else if (p.fetch && p.next)
      next = BlockAt(p.next, p.next_count, 0);
    BlockValues(p, scores, v, next);
  } while (first < stream);
}

void MergeDecodeSums(const DecodeSums* sums, int64_t count, int rows, int64_t value_dim) {
  const F32 d;
  const size_t padded = PadToLanes(value_dim);
  const DecodeSums& all = sums[0];
  for (int r = 0; r < rows; ++r) {
    float shift = all.shift[r];
    for (int64_t n = 1; n < count; ++n) shift = std::max(shift, sums[n].shift[r]);
    const float base = shift == kMinusInfinity ? 0.0f : shift;
    float norm = 0.0f, surprise = 0.0f;
    for (int64_t n = 0; n < count; ++n) {
      const DecodeSums& part = sums[n];
      const float factor = static_cast<float>(exact::exp(part.shift[r] - base));
      const float moved = part.shift[r] > kMinusInfinity ? part.shift[r] - base : 0.0f;
      surprise += (part.surprise[r] + moved * part.norm[r]) * factor;
      norm += part.norm[r] * factor;
      const V32 f = hn::Set(d, factor);
      for (size_t c = 0; c < padded; c += kLanes) {
        float* at = all.out + r * padded + c;
        const V32 x = hn::Mul(f, hn::LoadU(d, part.out + r * padded + c));
        hn::StoreU(n == 0 ? x : hn::Add(hn::LoadU(d, at), x), d, at);
      }
    }
    all.shift[r] = shift;
    all.norm[r] = norm;
    all.surprise[r] = surprise;
  }
}

size_t DecodeScratchFloats(int rows, int64_t dim) { return rows * (PadToLanes(dim) + kScoreStride); }
size_t DecodePadded(int64_t value_dim) { return PadToLanes(value_dim); }
void StoreDecoded(const float* out, float inverse, int64_t value_dim, MutableRows row) {
  UnpackRows(out, PadToLanes(value_dim), 1, value_dim, inverse, row);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(Decode);
HWY_EXPORT(MergeDecodeSums);
HWY_EXPORT(DecodeScratchFloats);
HWY_EXPORT(DecodePadded);
HWY_EXPORT(StoreDecoded);

size_t decode_scratch_floats(int rows, int64_t dim) { return HWY_DYNAMIC_DISPATCH(DecodeScratchFloats)(rows, dim); }
size_t decode_padded(int64_t value_dim) { return HWY_DYNAMIC_DISPATCH(DecodePadded)(value_dim); }
void decode_part(const DecodePart& part) { HWY_DYNAMIC_DISPATCH(Decode)(part); }
void merge_decode_sums(const DecodeSums* sums, int64_t count, int rows, int64_t value_dim) {
  HWY_DYNAMIC_DISPATCH(MergeDecodeSums)(sums, count, rows, value_dim);
}
void store_decoded(const float* out, float inverse, int64_t value_dim, MutableRows row) {
  HWY_DYNAMIC_DISPATCH(StoreDecoded)(out, inverse, value_dim, row);
}
}  // namespace heed::kernels
#endif
