// Softmax attention of a few rows on a range of keys that all of them see: the work of one task of a decoding step.
// One implementation per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/kernels/loop/tile.h"
#include "heed/kernels/problem.h"

namespace heed::kernels {

/// Results over a range of keys, [rows] each: weights are exp(score - shift), `out` is their sum of values.
struct DecodeSums {
  float* shift;
  float* norm;      // sum of the weights
  float* surprise;  // sum of weight * (score - shift)
  float* out;       // [rows, padded Dv]
};

/// How memory is read. It changes no bit, only how soon keys and values arrive.
enum class ReadOrder {
  cached,         // in order, without prefetching: that takes longer than reading
  in_order,       // in order; what comes next is prefetched into the L2 cache where the order breaks
  eight_streams,  // eight streams at once, and what comes next is prefetched into the L1 cache
};

struct DecodePart {
  int rows = 0;  // queries * heads, the queries of a head beside each other
  int queries = 0;
  int64_t dim = 0, value_dim = 0, keys = 0;
  float scale = 1.0f;
  bool entropy = false;  // `surprise` is requested
  ConstView q;           // of the first row; `batch` is not used
  Rows k, v;             // of the first key; columns are contiguous
  ReadOrder order = ReadOrder::cached;
  Rows next;  // keys that are likely read after these, or none
  int64_t next_count = 0;
  float* scratch = nullptr;  // decode_scratch_floats()
  DecodeSums sums{};
};

size_t decode_scratch_floats(int rows, int64_t dim, int64_t value_dim);
/// Floats of DecodeSums::out of a row.
size_t decode_padded(int64_t value_dim);

/// Fills part.sums.
void decode_part(const DecodePart& part);

/// sums[0] becomes the sum of `count` parts, added in their order.
void merge_decode_sums(const DecodeSums* sums, int64_t count, int rows, int64_t value_dim);

/// rows = out / norm of one row.
void store_decoded(const float* out, float inverse, int64_t value_dim, MutableRows row);

}  // namespace heed::kernels
