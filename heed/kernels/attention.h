// heed-kernels: fused attention on the CPU, forward and backward, for every score.
//
//   #include <heed/kernels/attention.h>
//   heed::kernels::Problem p;                       // what to compute: problem.h
//   p.shape = {.batch = 1, .heads = 8, .queries = 1024, .keys = 1024, .dim = 64, .value_dim = 64};
//   p.score.scale = 0.125f;
//   p.region.causal = true;
//   auto status = heed::kernels::forward(p, {q, k, v}, {.out = out});
//   if (!status) puts(status.message().c_str());
// Threads: any number may call at once, as long as they do not write to the same memory; each call uses several itself.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "heed/kernels/custom.h"
#include "heed/kernels/isa.h"
#include "heed/kernels/problem.h"
#include "heed/kernels/status.h"

namespace heed::kernels {

/// out = normalise(score(q, k) + bias, region) * v, in one pass over the visible pairs; nothing of size Tq x Tk is
/// stored.
Status forward(const Problem& problem, const Inputs& in, const Outputs& out);

/// Every requested gradient, in one pass over the visible pairs. Scores are recomputed, or read where the forward kept
/// them: the results are the same bits.
Status backward(const Problem& problem, const Inputs& in, const BackwardInputs& from, const Gradients& grad);

/// Floats needed in Outputs::forced_saved; 0 if forced-forward is off.
int64_t forced_saved_floats(const Problem& problem);

/// Floats that Outputs::kept_scores would take: one for each pair. 0 where keeping them is not worth it: scores of
/// products are as quick to compute as to read, and more than 256 MB are not asked for.
int64_t kept_scores_floats(const Problem& problem);

/// Everything that is wrong with a problem and its buffers; forward() and backward() call this first.
Status check(const Problem& problem, const Inputs& in, const Outputs& out);
Status check(const Problem& problem, const Inputs& in, const BackwardInputs& from, const Gradients& grad);

// --------------------------------------------------------------------------------------------------------- weights

/// Which weights to return, and how. They are recomputed from Outputs::saved; the fused forward is unaffected. These
/// are the weights that multiply the values, without dropout.
struct WeightsRequest {
  int64_t first_head = 0, head_count = -1;    // -1: all, starting with the first
  int64_t first_query = 0, query_count = -1;  // of each sequence; rows past its end give zeros
  // Dense rows, [B, head_count, query_count, dense_keys] contiguous; dense_keys = 0: the longest sequence's keys.
  float* dense = nullptr;
  int64_t dense_keys = 0;
  // The k largest weights of each row, largest first, [B, head_count, query_count, top_k]; missing ones are 0 at key
  // -1. A weight of 0 is missing too, unless the row has negative ones (identity) for which it is larger.
  int64_t top_k = 0;
  float* top_weights = nullptr;
  int32_t* top_keys = nullptr;
  // sum_i A_ij over the chosen rows, [B, head_count, dense_keys].
  float* column_sums = nullptr;
  // Called for every chosen row, in order of (b, h, i), from the calling thread: weights[j] for 0 <= j < keys.
  std::function<void(int64_t b, int64_t h, int64_t i, const float* weights, int64_t keys)> row;
};

/// `saved`, `choice` and `forced_saved` are those of the forward (choice only for argmax and sampled).
Status weights(const Problem& problem, const Inputs& in, const Outputs& forward_outputs, const WeightsRequest& request);

// ----------------------------------------------------------------------------------------------------- partial results

/// One softmax computed over a part of the keys: its output and its log-sum-exp.
struct Partial {
  ConstView out;               // [B, H, Tq, Dv]
  const float* lse = nullptr;  // rows
};

/// Merges results over disjoint sets of keys into the result over all of them. `lse` (rows) may be null.
/// Shape and raggedness of the queries are taken from `problem`.
Status merge(const Problem& problem, const Partial* parts, int64_t count, View out, float* lse);

// ------------------------------------------------------------------------------------------------------------ explain

/// What a call would do, as text and numbers.
struct Explanation {
  bool possible = false;
  std::string path;           // "tiles", "strip" (whole rows of a query block at once) or "decode" (every sequence has
                              // few queries on keys that all of them see)
  std::string isa;            // the instruction set that will run
  int64_t tile_queries = 0;   // one tile is this many queries ...
  int64_t tile_keys = 0;      // ... by this many keys
  int64_t pairs = 0;          // all pairs, B * H * Tq * Tk
  int64_t visited_pairs = 0;  // pairs in the tiles that will be visited
  int64_t tasks = 0;          // independent pieces of work
  int64_t scratch_bytes = 0;  // per thread
  std::string text;           // all of this with the reasons, for people
};
Explanation explain(const Problem& problem);

}  // namespace heed::kernels
