// The terms of the loop: rows of a matrix, a block of queries, a tile of pairs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heed::kernels {

/// The rows of one (batch, head) of a tensor.
template <class T>
struct RowsOf {
  T* data = nullptr;
  int64_t row = 0;
  int64_t col = 1;

  T* at(int64_t r, int64_t c) const { return data + r * row + c * col; }
  RowsOf from(int64_t r) const { return {data + r * row, row, col}; }
  explicit operator bool() const { return data != nullptr; }
};
using Rows = RowsOf<const float>;
using MutableRows = RowsOf<float>;

/// How a tensor with one element per pair is read at [b, h, i, ...]. `packed`: its query axis runs over the rows of all
/// sequences, and there is no batch axis.
struct PairStrides {
  int64_t batch, head, query;
  bool packed;

  /// Whether each sequence has its own part of the tensor.
  bool per_sequence() const { return packed ? query != 0 : batch != 0; }
};

/// A tile of pairs: keys down the rows, queries across the lanes. Per-query work (maximum, sum, scale) is then plain
/// vector code, and neither keys nor values are ever transposed. Lanes from `queries` up to the next whole vector hold
/// numbers that are not used.
struct Tile {
  float* at = nullptr;  // [keys, stride]
  size_t stride = 0;
  int keys = 0;
  int queries = 0;
  int lane = 0;              // the first lane's place in its query block
  int row = 0;               // the first key's place in its key block
  int64_t key = 0;           // the first key, in its sequence
  int64_t query = 0;         // the first query, in its sequence
  int64_t packed_query = 0;  // ... and among the rows of all sequences, where they are packed
  int64_t batch = 0;
  int64_t head = 0;
  bool may_hide = true;  // some scores may be -inf

  /// The same pairs in another buffer of the same stride.
  Tile in(float* buffer) const {
    Tile t = *this;
    t.at = buffer + row * stride + lane;
    return t;
  }

  /// Where the row of the tile's first query begins.
  int64_t row_in(const PairStrides& s) const {
    return head * s.head + (s.packed ? packed_query * s.query : batch * s.batch + query * s.query);
  }
};

/// Tile sizes.
struct Geometry {
  int width = 0;   // queries of a block, whole vectors
  int stride = 0;  // from one row of a tile to the next: a vector more, since powers of two share cache sets
  int panel = 0;   // a partly visible tile is cut into panels of this many queries
  int keys = 0;    // keys of a block
};

/// One query block: what a thread takes at a time.
struct BlockTask {
  int32_t batch;
  int32_t head;
  int64_t first_query;
  int32_t count;
};

/// Sequence b: where its rows start in ragged storage, its lengths, and the position of its queries among the keys.
struct Sequence {
  int64_t first_query = 0;  // ragged: row of query 0 in the packed matrix
  int64_t first_key = 0;
  int64_t queries = 0;       // Tq
  int64_t keys = 0;          // Tk
  int64_t live_queries = 0;  // with query_lengths
  int64_t live_keys = 0;     // with key_lengths
  int64_t offset = 0;        // position(i) = i + offset
};

}  // namespace heed::kernels
