#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/loop/decode_part.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <type_traits>

#include "heed/kernels/exact_math.h"
#include "heed/kernels/loop/decode_block-inl.h"
#include "heed/kernels/loop/decode_part.h"
#include "heed/kernels/simd/dots-inl.h"
#include "heed/kernels/simd/math-inl.h"
#include "heed/kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// ------------------------------------------------------------------------------------------------------------- scores

/// `count` times eight keys: key s of group g stands at data + g * step + s * row, and its score goes to
/// scores + g * score_step + s * score_row. Rows to fetch lie alike.
struct KeyGroups {
  const float* data;
  int64_t step, row;
  int count;
  int64_t score_step, score_row;
  Fetched fetch;  // of each group the first row, `fetch.row` from group to group
  int64_t fetch_row;
};

/// scores[r][...] of kRows queries and some groups, kKeys keys of them at a time. kShare: of each eight rows to fetch
/// one in kShare is fetched; 0: none.
template <int kRows, int kKeys, int kShare>
void GroupScores(const float* HWY_RESTRICT q, size_t dim, const KeyGroups& k, bool in_order,
                 float* HWY_RESTRICT scores) {
  const hn::CappedTag<float, kKeys> d;
  constexpr int kFetch = kShare > 0 ? kKeys / kShare : 0;
  for (int g = 0; g < k.count; ++g)
    for (int n = 0; n < kStreams; n += kKeys) {
      HWY_ALIGN float found[kRows * kKeys];
      const float* fetch = kFetch > 0 ? k.fetch.data + g * k.fetch.row + n / kKeys * kFetch * k.fetch_row : nullptr;
      const float* keys = k.data + g * k.step + n * k.row;
      if (kRows == 1 && in_order)
        DotsInOrder<kKeys, kFetch>(q, {keys, k.row}, dim, {fetch, k.fetch_row, k.fetch.far}, found);
      else
        Dots<kRows, kKeys, kFetch>({q, static_cast<int64_t>(PadToLanes(dim))}, {keys, k.row}, dim,
                                   {fetch, k.fetch_row, k.fetch.far}, found);
      float* to = scores + g * k.score_step + n * k.score_row;
      for (int i = 0; i < kRows; ++i, to += kScoreStride) {
        if (k.score_row == 1)
          for (size_t at = 0; at < kKeys; at += hn::MaxLanes(d))
            hn::StoreU(hn::Load(d, found + i * kKeys + at), d, to + at);
        else
          for (int at = 0; at < kKeys; ++at) to[at * k.score_row] = found[i * kKeys + at];
      }
    }
}

/// The scores of all queries and some groups.
void AllScores(const DecodePart& p, const float* q, const KeyGroups& k, float* scores) {
  const bool in_order = p.order == ReadOrder::in_order;
  ForRows(p.rows, [&](auto rows_at_once, int r, int call, int calls) HWY_ATTR {
    constexpr int kRows = decltype(rows_at_once)::value, kKeys = kRows == 1 ? 8 : 4;
    WithShare(k.fetch.data != nullptr, call, calls, [&](int fetched, auto share) HWY_ATTR {
      constexpr int kShare = decltype(share)::value;
      KeyGroups part = k;
      if constexpr (kShare > 0) part.fetch.data += fetched * (kStreams / kShare) * k.fetch_row;
      GroupScores<kRows, kKeys, kShare>(q + r * PadToLanes(p.dim), p.dim, part, in_order, scores + r * kScoreStride);
    });
  });
}

/// scores[r][j] of the keys of a block, for all queries.
void BlockScores(const DecodePart& p, const float* q, const BlockRows& k, const BlockRows& next, float* scores) {
  const int64_t q_row = static_cast<int64_t>(PadToLanes(p.dim));
  const BlockPrefetch ahead{k, next, p.order != ReadOrder::cached, p.rows > 1};
  int done = 0;
  if (p.order == ReadOrder::eight_streams) {
    const int stream = k.stream(), at_once = p.rows == 1 ? stream : kStreamRows;
    for (int g = 0, until; g < stream; g = until) {
      until = std::min(g + at_once, stream);
      int64_t fetch_stride = 0;
      const Fetched fetch = ahead.in_streams(g, until, fetch_stride);
      AllScores(p, q, {k.at(g), k.row, stream * k.row, until - g, 1, stream, fetch, fetch_stride}, scores + g);
    }
    done = kStreams * stream;
  }
  const int at_once = p.rows == 1 ? k.rows : kOrderedRows, whole = k.rows - (k.rows - done) % kStreams;
  for (int until; done < whole; done = until) {
    until = std::min(done + at_once, whole);
    const Fetched fetch = p.order == ReadOrder::in_order ? ahead.in_order(done, until) : Fetched{};
    const int groups = std::max(1, (until - done) / kStreams);
    until = done + groups * kStreams;
    AllScores(p, q,
              {k.at(done),
               kStreams * k.row,
               k.row,
               groups,
               kStreams,
               1,
               {fetch.data, kStreams * fetch.row, fetch.far},
               fetch.row},
              scores + done);
  }
  for (; done < k.rows; ++done)
    for (int r = 0; r < p.rows; ++r)
      Dots<1, 1, 0>({q + r * q_row, q_row}, {k.at(done), 0}, p.dim, {}, scores + r * kScoreStride + done);
}

// ------------------------------------------------------------------------------------------------------------ weights

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

// ------------------------------------------------------------------------------------------------------------- values

/// Some rows of the values of one stream.
struct ValueRows {
  const float* data;
  int64_t row;
  int count;
  bool first;   // nothing of the stream was summed yet
  size_t left;  // columns of the last vector
};

/// sums[r][...] (+)= sum_j weights[r][j] values[j][...], kRows rows by kVecs vectors of columns, in the order of the
/// values. kShare: one row in kShare is fetched meanwhile; 0: none.
template <int kRows, int kVecs, bool kPart, int kShare>
void AddValues(const float* HWY_RESTRICT weights, const ValueRows& v, Fetched fetch, float* HWY_RESTRICT sums,
               size_t sums_row) {
  const F32 d;
  V32 sum[kRows][kVecs];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < kVecs; ++c) sum[r][c] = v.first ? hn::Zero(d) : hn::LoadU(d, sums + r * sums_row + c * kLanes);
  const float* at = v.data;
  const float* ahead = fetch.data;
  const auto add = [&](int j) HWY_ATTR {
    V32 value[kVecs];
#pragma GCC unroll 8
    for (int c = 0; c < kVecs; ++c) {
      value[c] = kPart && c + 1 == kVecs ? LoadPart(at + c * kLanes, v.left) : hn::LoadU(d, at + c * kLanes);
      if constexpr (kRows > 1) KeepLoaded(value[c]);
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const V32 weight = hn::Set(d, weights[r * kScoreStride + j]);
#pragma GCC unroll 8
      for (int c = 0; c < kVecs; ++c) sum[r][c] = hn::MulAdd(weight, value[c], sum[r][c]);
    }
    at += v.row;
  };
  constexpr int kStep = kShare > 0 ? kShare : 4;  // NOLINT: of some instances both are 4
  int j = 0;
  for (; j + kStep <= v.count; j += kStep) {
    if constexpr (kShare > 0) {
#pragma GCC unroll 8
      for (size_t c = 0; c < kVecs * kLanes; c += kLineFloats) FetchLine(ahead + c, fetch.far);
      ahead += kShare * fetch.row;
    }
#pragma GCC unroll 4
    for (int k = 0; k < kStep; ++k) add(j + k);
  }
  for (; j < v.count; ++j) add(j);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < kVecs; ++c) hn::StoreU(sum[r][c], d, sums + r * sums_row + c * kLanes);
}

/// All queries and columns of some rows of stream s; weights: [rows, kScoreStride] of the first of them.
void StreamValues(const DecodePart& p, const float* weights, ValueRows v, Fetched fetch, float* sums) {
  const size_t padded = PadToLanes(p.value_dim), vectors = padded / kLanes, sums_row = kStreams * padded;
  v.left = p.value_dim - (vectors - 1) * kLanes;
  ForRows(p.rows, [&](auto rows_at_once, int r, int call, int calls) HWY_ATTR {
    constexpr int kRows = decltype(rows_at_once)::value;
    size_t n = 0;
    const auto panel = [&](auto vecs) HWY_ATTR {
      constexpr int kVecs = decltype(vecs)::value;
      const size_t c = n * kLanes;
      ValueRows columns = v;
      columns.data += c;
      float* to = sums + r * sums_row + c;
      const float* w = weights + r * kScoreStride;
      if (n + kVecs == vectors && v.left < kLanes)
        AddValues<kRows, kVecs, true, 0>(w, columns, {}, to, sums_row);
      else if (kVecs < 4)
        AddValues<kRows, kVecs, false, 0>(w, columns, {}, to, sums_row);
      else
        WithShare(fetch.data != nullptr, call, calls, [&](int fetched, auto share) HWY_ATTR {
          Fetched next = fetch;
          if constexpr (decltype(share)::value > 0) next.data += fetched * fetch.row + static_cast<int64_t>(c);
          AddValues<kRows, kVecs, false, decltype(share)::value>(w, columns, next, to, sums_row);
        });
      n += kVecs;
    };
    if constexpr (kRows == 1)
      while (n + 8 <= vectors) panel(std::integral_constant<int, 8>());
    while (n + 4 <= vectors) panel(std::integral_constant<int, 4>());
    while (n + 2 <= vectors) panel(std::integral_constant<int, 2>());
    while (n < vectors) panel(std::integral_constant<int, 1>());
  });
}

/// Rows [first, until) of all eight streams of a block, and rows that are asked for meanwhile: `fetch` says where they
/// stand for the first stream, `fetch_stride` from stream to stream.
struct StreamRows {
  const BlockRows& v;
  int first, until;
  Fetched fetch;
  int64_t fetch_stride;
};

/// One query, and rows [first, until) of all eight streams at once, two of each at a time (a stream's rows are an even
/// number, and so are kLead): the sums come from the cache and go back there with every two rows, which leaves time to
/// spare while the memory is slower.
void StreamsOfOneQuery(const DecodePart& p, const float* HWY_RESTRICT weights, const StreamRows& rows,
                       float* HWY_RESTRICT sums) {
  const F32 d;
  const BlockRows v = rows.v;
  const Fetched fetch = rows.fetch;
  const size_t padded = PadToLanes(p.value_dim), whole = p.value_dim / kLanes * kLanes;
  const int stream = v.stream();
  for (int r = rows.first; r < rows.until; r += 2)
    for (int s = 0; s < kStreams; ++s) {
      const int64_t j = s * stream + r;
      const float* HWY_RESTRICT at = v.at(j);
      const float* HWY_RESTRICT below = at + v.row;
      if (fetch.data) {
        const float* ahead = fetch.data + s * rows.fetch_stride + (r - rows.first) * fetch.row;
        for (size_t c = 0; c < whole; c += kLineFloats) {
          FetchLine(ahead + c, fetch.far);
          FetchLine(ahead + fetch.row + c, fetch.far);
        }
      }
      const V32 weight = hn::Set(d, weights[j]), weight_below = hn::Set(d, weights[j + 1]);
      float* HWY_RESTRICT to = sums + s * padded;
      const auto add = [&](size_t c, V32 value, V32 value_below) HWY_ATTR {
        const V32 before = r == 0 ? hn::Zero(d) : hn::LoadU(d, to + c);
        hn::StoreU(hn::MulAdd(weight_below, value_below, hn::MulAdd(weight, value, before)), d, to + c);
      };
      size_t c = 0;
      for (; c < whole; c += kLanes) add(c, hn::LoadU(d, at + c), hn::LoadU(d, below + c));
      const size_t left = p.value_dim - whole;
      if (left > 0) add(c, LoadPart(at + c, left), LoadPart(below + c, left));
    }
}

/// out[r] += the eight sums of a row, or the last one where a block is not cut.
void AddStreams(const DecodePart& p, bool cut, const float* sums) {
  const F32 d;
  const size_t padded = PadToLanes(p.value_dim);
  for (int r = 0; r < p.rows; ++r, sums += kStreams * padded)
    for (size_t c = 0; c < padded; c += kLanes) {
      const auto of = [&](int s) HWY_ATTR { return hn::LoadU(d, sums + s * padded + c); };
      V32 all = of(7);
      if (cut) {
        const V32 low = hn::Add(hn::Add(of(0), of(1)), hn::Add(of(2), of(3)));
        all = hn::Add(low, hn::Add(hn::Add(of(4), of(5)), hn::Add(of(6), all)));
      }
      float* at = p.sums.out + r * padded + c;
      hn::StoreU(hn::Add(hn::LoadU(d, at), all), d, at);
    }
}

/// Adds the values of a block. sums: [rows, kStreams, padded Dv], for this alone.
void BlockValues(const DecodePart& p, const float* weights, const BlockRows& v, const BlockRows& next, float* sums) {
  const size_t padded = PadToLanes(p.value_dim);
  const int stream = v.stream();
  const BlockPrefetch ahead{v, next, p.order != ReadOrder::cached, p.rows > 1};
  const auto some = [&](int s, int r, int count, Fetched fetch) HWY_ATTR {
    const int64_t j = s * stream + r;
    StreamValues(p, weights + j, {v.at(j), v.row, count, r == 0, 0}, fetch, sums + s * padded);
  };
  int behind = 0;  // rows of the last stream that are done
  if (p.order == ReadOrder::eight_streams) {
    for (int r = 0, until; r < stream; r = until) {
      until = std::min(r + (p.rows == 1 ? stream : kValueTurn), stream);
      int64_t fetch_stride = 0;
      Fetched fetch = ahead.in_streams(r, until, fetch_stride);
      for (int s = 0; s < kStreams && p.rows > 1; ++s) {
        some(s, r, until - r, fetch);
        if (fetch.data) fetch.data += fetch_stride;
      }
      if (p.rows == 1) StreamsOfOneQuery(p, weights, {v, r, until, fetch, fetch_stride}, sums);
    }
    behind = stream;
  }
  for (int s = behind > 0 || stream == 0 ? kStreams - 1 : 0; s < kStreams; ++s) {
    const int rows = s + 1 < kStreams ? stream : v.rows - s * stream, at_once = p.rows == 1 ? rows : kOrderedRows;
    for (int r = s + 1 < kStreams ? 0 : behind, until; r < rows; r = until) {
      const int j = s * stream;
      until = j + std::min(r + at_once, rows);
      const Fetched fetch = p.order == ReadOrder::in_order ? ahead.in_order(j + r, until) : Fetched{};
      until -= j;
      some(s, r, until - r, fetch);
    }
  }
  AddStreams(p, stream > 0, sums);
}

void Decode(const DecodePart& p) {
  const size_t q_row = PadToLanes(p.dim), padded = PadToLanes(p.value_dim);
  float* q = p.scratch;
  float* scores = q + p.rows * q_row;
  float* stream_sums = scores + p.rows * kScoreStride;
  for (int r = 0; r < p.rows; ++r)
    PackRows({p.q.at(0, r / p.queries, r % p.queries), p.q.row, p.q.col}, 1, p.dim, p.scale, {q + r * q_row, q_row});
  std::fill_n(p.sums.shift, p.rows, kMinusInfinity);
  std::fill_n(p.sums.norm, p.rows, 0.0f);
  std::fill_n(p.sums.surprise, p.rows, 0.0f);
  std::fill_n(p.sums.out, p.rows * padded, 0.0f);
  const auto weights = p.entropy ? RowWeights<true> : RowWeights<false>;
  for (int64_t first = 0; first < p.keys;) {
    const BlockRows k = BlockAt(p.k, p.keys, first), v = BlockAt(p.v, p.keys, first);
    BlockScores(p, q, k, v, scores);
    for (int r = 0; r < p.rows; ++r) weights(scores + r * kScoreStride, k.rows, p.sums, r, padded);
    first += k.rows;
    BlockRows next;
    if (first < p.keys)
      next = BlockAt(p.k, p.keys, first);
    else if (p.next)
      next = BlockAt(p.next, p.next_count, 0);
    BlockValues(p, scores, v, next, stream_sums);
  }
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

size_t DecodeScratchFloats(int rows, int64_t dim, int64_t value_dim) {
  return rows * (PadToLanes(dim) + kScoreStride + kStreams * PadToLanes(value_dim));
}
size_t DecodePadded(int64_t value_dim) { return PadToLanes(value_dim); }
void StoreDecoded(const float* out, float inverse, int64_t value_dim, MutableRows row) {
  UnpackRows({out, PadToLanes(value_dim)}, 1, value_dim, inverse, row);
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

size_t decode_scratch_floats(int rows, int64_t dim, int64_t value_dim) {
  return HWY_DYNAMIC_DISPATCH(DecodeScratchFloats)(rows, dim, value_dim);
}
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
