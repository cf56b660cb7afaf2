// Problem -> sequences and rows: the only place that knows about ragged offsets, lengths, alignment and grouped heads.
#pragma once

#include <algorithm>

#include "heed/kernels/loop/tile.h"
#include "heed/kernels/problem.h"

namespace heed::kernels {

inline int64_t kv_heads(const Problem& p) { return p.shape.kv_heads > 0 ? p.shape.kv_heads : p.shape.heads; }
inline int64_t group_size(const Problem& p) { return p.shape.heads / kv_heads(p); }

inline Sequence sequence(const Problem& p, int64_t b) {
  Sequence s;
  s.queries = p.shape.queries;
  s.keys = p.shape.keys;
  if (const int64_t* offsets = p.ragged.query_offsets) {
    s.first_query = offsets[b];
    s.queries = offsets[b + 1] - offsets[b];
  }
  if (const int64_t* offsets = p.ragged.key_offsets) {
    s.first_key = offsets[b];
    s.keys = offsets[b + 1] - offsets[b];
  }
  s.live_queries = s.queries;
  s.live_keys = s.keys;
  if (p.region.query_lengths) s.live_queries = std::clamp<int64_t>(p.region.query_lengths[b], 0, s.queries);
  if (p.region.key_lengths) s.live_keys = std::clamp<int64_t>(p.region.key_lengths[b], 0, s.keys);
  switch (p.region.align) {
    case Align::top_left:
      s.offset = 0;
      break;
    case Align::bottom_right:
      s.offset = s.live_keys - s.live_queries;
      break;
    case Align::offset:
      s.offset = p.region.query_offset;
      break;
  }
  return s;
}

inline int64_t most_queries(const Problem& p) {
  int64_t most = 0;
  for (int64_t b = 0; b < p.shape.batch; ++b) most = std::max(most, sequence(p, b).queries);
  return most;
}
inline int64_t most_keys(const Problem& p) {
  int64_t most = 0;
  for (int64_t b = 0; b < p.shape.batch; ++b) most = std::max(most, sequence(p, b).keys);
  return most;
}

/// Rows of head h of sequence b on the side of the queries (q, out, d_out, d_q) ...
template <class T>
RowsOf<T> query_rows(const Problem& p, const Strided<T>& view, const Sequence& s, int64_t b, int64_t h) {
  if (!view.data) return {};
  return {view.at(p.ragged.query_offsets ? 0 : b, h, s.first_query), view.row, view.col};
}
/// ... and of the keys (k, v, d_k, d_v), g a key/value head.
template <class T>
RowsOf<T> key_rows(const Problem& p, const Strided<T>& view, const Sequence& s, int64_t b, int64_t g) {
  if (!view.data) return {};
  return {view.at(p.ragged.key_offsets ? 0 : b, g, s.first_key), view.row, view.col};
}

/// The axes of the tensors with one element per pair.
inline PairStrides pair_strides(const Bias& b) { return {b.batch, b.head, b.query, b.packed}; }
inline PairStrides pair_strides(const Guide& g) { return {g.batch, g.head, g.query, g.packed}; }
inline PairStrides mask_strides(const Region& r) { return {r.mask_batch, r.mask_head, r.mask_query, r.mask_packed}; }

/// Where the column state of forced-forward attention of (b, h) begins: [B, H, Tk], ragged [H, total keys].
inline int64_t column_index(const Problem& p, const Sequence& s, int64_t b, int64_t h) {
  if (p.ragged.key_offsets) return h * p.ragged.key_offsets[p.shape.batch] + s.first_key;
  return (b * p.shape.heads + h) * p.shape.keys;
}
inline int64_t column_count(const Problem& p) {
  const int64_t per_head = p.ragged.key_offsets ? p.ragged.key_offsets[p.shape.batch] : p.shape.batch * p.shape.keys;
  return p.shape.heads * per_head;
}

}  // namespace heed::kernels
