// The fused loop of heed/kernels as an operation on a tape: every learned part gets its gradient.
#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/attention.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// The columns [first, first + width) of a tensor, for example the keys inside a joint projection [n, q | k | v].
struct Slice {
  Slice() = default;
  Slice(Tensor t) : tensor(t), width(t ? t.cols() : 0) {}  // NOLINT: a tensor is the slice of all its columns
  Slice(Tensor t, int64_t first_column, int64_t columns) : tensor(t), first(first_column), width(columns) {}

  Tensor tensor;
  int64_t first = 0;
  int64_t width = 0;
};

/// One hidden layer of pair_mlp after the first.
struct MlpTensors {
  Tensor weight;  // [out, in]
  Tensor bias;    // [1, out], or empty
};

/// H heads are side by side in the columns, and a tensor "of rows" is [H, query rows]. Or stacked: q is [B * H * Tq,
/// D], k [B * G * Tk, D], all sequences are equally long, and a tensor of rows is [B * H, Tq].
struct AttentionCall {
  /// What is not learned: heads, score kind, region, normaliser, dropout, guide. Sizes, offsets and the pointers to the
  /// tensors below are filled in. Arrays it points to must live until the backward (Tape::keep).
  kernels::Problem problem;
  bool stacked = false;
  Slice q;                   // [query rows, H * D]; empty for ScoreKind::none
  Slice k;                   // [key rows, G * D];   empty for ScoreKind::none
  Slice v;                   // [key rows, G * Dv]
  Offsets query_offsets;     // sequences of queries
  Offsets key_offsets;       // sequences of keys; or empty:
  int64_t key_capacity = 0;  //   sequence b starts at row b * key_capacity ...
  int64_t key_count = 0;     //   ... and has this many rows (a cache that fills)

  Tensor score_v;                      // tanh_sum: [1, D] or [H, D]; pair_mlp: [1, width of the last layer]
  std::span<const MlpTensors> layers;  // pair_mlp; owned by the caller until the backward
  Tensor bias;                         // read by the strides in problem.bias
  Tensor alibi_slopes;                 // [1, H]
  Tensor relative;                     // [1, 2 * reach + 1] or [H, 2 * reach + 1]
  Tensor sink;                         // [1, H]
  Tensor centre;                       // of rows
  Tensor column_lse;  // forced-forward: the state before the first query, [H, key rows]; empty: nothing seen

  /// >= 0: each query sees only the keys within this distance of its best key, the first of equals: softcap, biases and
  /// the region count, forced-forward does not. problem.region.centre_sigma > 0 adds a Gaussian around it. `centre`
  /// must be empty.
  int64_t around_best = -1;
  bool straight_through = false;  // with a Gaussian: its centre has the gradient of the expected key under softmax

  bool want_lse = false;
  bool want_log_prob = false;    // sampled, argmax
  bool want_entropy = false;     // softmax, sampled, argmax
  bool want_guide_cost = false;  // with problem.guide
};

struct AttentionSaved;  // what the backward and weights() need

struct AttentionResult {
  Tensor out;         // [query rows, H * Dv]
  Tensor lse;         // of rows, on request, like the next three
  Tensor log_prob;    // of rows
  Tensor entropy;     // of rows
  Tensor guide_cost;  // of rows
  Tensor column_lse;  // forced-forward: the state after the last query, [H, key rows]
  const AttentionSaved* saved = nullptr;
};

/// Throws Error with every reason if the problem cannot be run.
AttentionResult attention(const AttentionCall& call);

/// The sizes of the inputs, as far as they determine the shape of the weights.
struct AttentionShape {
  int64_t batch, heads, longest_query, longest_memory;
};
AttentionShape attention_shape(const AttentionResult& result);

/// The weights of a result, recomputed from two saved numbers per row.
void attention_weights(const AttentionResult& result, const kernels::WeightsRequest& request);

}  // namespace heed
