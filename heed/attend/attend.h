// Attention as one call on plain arrays:
//
//   const std::vector<float> q = ..., k = ..., v = ...;
//   const auto found = heed::attend::attend("scaled_dot", {q.data(), 2, 5, 64}, {k.data(), 2, 9, 64},
//                                           {v.data(), 2, 9, 32}, {.mechanism = {.heads = 4}});
//   found.context;  // [2, 5, 32]
//
// It makes the mechanism, runs it on a tape that records nothing, and copies the result. For gradients, or to call one
// mechanism many times, take the parts: attend::make (all.h), prepare() and attend() (mechanism.h).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heed/attend/options.h"

namespace heed {
class Parameters;
}

namespace heed::attend {

/// [batch, length, width], in memory of the caller. Heads lie side by side in the columns.
struct Array {
  const float* data = nullptr;
  int64_t batch = 0, length = 0, width = 0;
  /// From one row, and from one sequence, to the next, in floats; 0: there are no gaps. The rows of an array with gaps
  /// are copied.
  int64_t row_stride = 0, batch_stride = 0;
};

struct ArrayOptions {
  /// Of the mechanism: heads, normalise, region ("causal"), hidden, softcap, ... Its widths are those of the arrays.
  Options mechanism = {};
  /// For a mechanism with parameters: their names and shapes must be exactly its own. Null: they are drawn from `seed`.
  const Parameters* parameters = nullptr;
  uint64_t seed = 0;                            // also of dropout and of keys that are drawn
  bool training = true;                         // whether those two are on
  std::span<const int32_t> query_lengths = {};  // [batch] valid rows, from the start; the others give 0. Empty: all
  std::span<const int32_t> key_lengths = {};    // [batch]
  const uint8_t* mask = nullptr;                // [batch, queries, keys], not 0 where visible
  const float* bias = nullptr;                  // [batch, queries, keys], added to the scores
  int64_t window_left = -1, window_right = -1;  // keys that are visible to each side of a query's place; -1: all
  bool bottom_right = false;                    // the last query stands on the last key, not the first on the first
  bool weights = false;                         // also the weights
};

struct ArrayResult {
  int64_t batch = 0, length = 0, width = 0;
  std::vector<float> context;   // [batch, length, width], like q with the width of v
  int64_t heads = 0, keys = 0;  // of the weights
  std::vector<float> weights;   // [batch, heads, length, keys], before dropout; if they were asked for
};

/// `mechanism`: any name of `heed mechanisms` that takes queries from outside. A query that sees no key gives 0. Throws
/// Error if arrays or options do not fit together, with every reason, and if finite numbers are so large that float32
/// cannot hold a score or a sum.
ArrayResult attend(std::string_view mechanism, const Array& q, const Array& k, const Array& v,
                   const ArrayOptions& options = {});

}  // namespace heed::attend
