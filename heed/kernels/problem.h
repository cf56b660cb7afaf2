// The problem that the loop solves. Plain structs: a default and one comment per field.
//
//   weights = normalise( softcap(score(q', k')) + bias , region )        out = weights * V
//
// Letters for axes (docs/notation.md): B batch, H heads, G key/value heads, Tq queries, Tk keys, D, Dv.
// All numbers are float32; all strides count elements of the pointed-to type.
#pragma once

#include <cstdint>
#include <type_traits>

namespace heed::kernels {

struct CustomScore;   // custom.h
struct CustomBias;    // custom.h
struct CustomRegion;  // custom.h

/// A [B, heads, rows, cols] tensor of any layout. With ragged offsets `batch` is not used: the rows of all sequences
/// are stacked, [heads, total rows, cols].
template <class T>
struct Strided {
  T* data = nullptr;
  int64_t batch = 0;
  int64_t head = 0;
  int64_t row = 0;
  int64_t col = 1;

  /// What may be written may also be read.
  operator Strided<const T>() const  // NOLINT(google-explicit-constructor): as float* becomes const float*
      requires(!std::is_const_v<T>) {
    return {data, batch, head, row, col};
  }
  T* at(int64_t b, int64_t h, int64_t r) const { return data + b * batch + h * head + r * row; }
};
using View = Strided<float>;
using ConstView = Strided<const float>;

/// Sizes. Query head h reads key/value head h / (heads / kv_heads) (repeat-interleave).
struct Shape {
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t kv_heads = 0;   // 0: as many as heads. Must divide heads.
  int64_t queries = 0;    // Tq; with ragged.query_offsets: not used
  int64_t keys = 0;       // Tk; with ragged.key_offsets: not used
  int64_t dim = 0;        // D, the width of q' and k'; not used by ScoreKind::none
  int64_t value_dim = 0;  // Dv
};

/// Sequences of unequal length, packed one after another: sequence b holds the rows [offsets[b], offsets[b + 1]).
struct Ragged {
  const int64_t* query_offsets = nullptr;  // [B + 1], or null: every sequence has shape.queries rows
  const int64_t* key_offsets = nullptr;    // [B + 1], or null
};

// ---------------------------------------------------------------------------------------------------------- score

/// Every score that the loop computes. A new one is a line here and a file, heed/kernels/score/NAME.cc;
/// heed/kernels/score/score.h has the interface.
#define HEED_SCORES(X)                                                          \
  X(inner)    /* scale * <q', k'> */                                            \
  X(tanh_sum) /* sum_d v_d tanh(q'_d + k'_d) */                                 \
  X(pair_mlp) /* v . h_n,  h_1 = act(q' + k'),  h_{l+1} = act(W_l h_l + b_l) */ \
  X(none)     /* 0: the bias alone decides */                                   \
  X(custom)   /* a user's type, see custom.h */

enum class ScoreKind {
#define HEED_SCORE(name) name,
  HEED_SCORES(HEED_SCORE)
#undef HEED_SCORE
};

enum class MlpActivation { tanh, relu, gelu, silu };  // gelu: the exact form, x Phi(x); silu: x sigmoid(x)

/// One hidden layer of pair_mlp after the first: h' = act(weight * h + bias). Shared by all heads.
struct MlpLayer {
  const float* weight = nullptr;  // [out, in], row-major
  const float* bias = nullptr;    // [out], or null for none
  int64_t in = 0;
  int64_t out = 0;
};

struct Score {
  ScoreKind kind = ScoreKind::inner;
  float scale = 1.0f;         // inner only; 1/sqrt(D) for scaled dot product
  float softcap = 0.0f;       // > 0: score becomes softcap * tanh(score / softcap), before bias and mask
  const float* v = nullptr;   // tanh_sum: [D] (or [H, D]); pair_mlp: [width of the last hidden layer]
  int64_t v_head_stride = 0;  // tanh_sum: 0 shares v between heads
  MlpActivation activation = MlpActivation::tanh;  // pair_mlp
  const MlpLayer* layers = nullptr;                // pair_mlp: hidden layers after the first, [layer_count]
  int64_t layer_count = 0;
  const CustomScore* custom = nullptr;
};

// ----------------------------------------------------------------------------------------------------------- bias

/// Added to the score: every part that is set. -inf hides a pair; +inf keys share all the weight equally.
struct Bias {
  // A tensor read at [b, h, i, j] through strides, any of them 0 to broadcast: [H,Tq,Tk], [1,Tq,Tk], [Tq,Tk],
  // per key [Tk] (query stride 0), per query [Tq] (key stride 0), with or without a batch axis.
  const float* tensor = nullptr;
  int64_t batch = 0, head = 0, query = 0, key = 0;
  bool packed = false;  // the query axis runs over the rows of all sequences, query_offsets[b] + i; no batch axis
  // ALiBi: -slope_h * |position(i) - j|.  Press et al. 2022.
  const float* alibi_slopes = nullptr;  // [H]
  // Relative positions: table[h][clamp(j - position(i), -reach, reach) + reach].  Shaw et al. 2018, Raffel et al. 2020.
  const float* relative = nullptr;  // [2 * reach + 1] (or [H, 2 * reach + 1])
  int64_t relative_reach = 0;
  int64_t relative_head_stride = 0;
  const CustomBias* custom = nullptr;
};

// --------------------------------------------------------------------------------------------------------- region

/// Position of query i of a sequence on the key axis: position(i) = i + offset.
enum class Align {
  top_left,      // offset 0
  bottom_right,  // offset Tk - Tq of each sequence (lengths respected): the last query stands on the last key, as with
                 // a cache
  offset,        // Region::query_offset
};

enum class MaskKind { bytes, bits };  // bits: least significant first, key j at byte j / 8, bit j % 8

/// Which pairs exist. All conditions hold together; a query that sees no key gives output 0 and gradient 0.
struct Region {
  Align align = Align::top_left;
  int64_t query_offset = 0;              // with Align::offset
  bool causal = false;                   // j <= position(i)
  bool strict = false;                   // with causal: j < position(i)
  bool not_self = false;                 // j != position(i)
  int64_t window_left = -1;              // j >= position(i) - window_left;  -1: no bound
  int64_t window_right = -1;             // j <= position(i) + window_right; -1: no bound
  int64_t always_visible = 0;            // the first keys that window_left and documents never hide ("attention sinks")
  const int32_t* key_lengths = nullptr;  // [B] number of valid keys, from the start
  const int32_t* query_lengths = nullptr;  // [B] number of valid queries; the rest give 0
  // Packed documents: pair (i, j) exists if the ids are equal. Ids must not decrease within a sequence.
  const int32_t* query_documents = nullptr;  // [B, Tq], ragged: [total queries]
  const int32_t* key_documents = nullptr;    // [B, Tk], ragged: [total keys]
  // Any mask: nonzero byte or set bit = visible. Strides in bytes; the key axis is contiguous.
  const uint8_t* mask = nullptr;
  MaskKind mask_kind = MaskKind::bytes;
  int64_t mask_batch = 0, mask_head = 0, mask_query = 0;
  bool mask_packed = false;  // as Bias::packed
  // Local attention around a real-valued centre per query: |j - centre| <= half_width. Luong et al. 2015, local-p.
  // centre_sigma > 0 multiplies each weight by exp(-(j - centre)^2 / (2 centre_sigma^2)), with a gradient to the
  // centre.
  const float* centre = nullptr;  // rows, see row_index()
  float centre_half_width = 0.0f;
  float centre_sigma = 0.0f;
  // The weights are normalised over all visible keys first; the window and its Gaussian then pick from them: those
  // outside become 0. Otherwise only the keys in the window are visible.
  bool centre_picks = false;
  const CustomRegion* custom = nullptr;
};

// ----------------------------------------------------------------------------------------------------- normaliser

enum class Normaliser {
  softmax,
  sigmoid,
  relu,
  identity,
  sparsemax,  // Martins and Astudillo 2016: exact zeros
  entmax15,   // Peters et al. 2019, alpha = 1.5
  argmax,     // weight 1 on the best key (the first one in a tie); straight-through gradient: that of softmax
  sampled,    // one key drawn from softmax (Gumbel-max); gradient of its log-probability (REINFORCE)
};

struct Normalise {
  Normaliser kind = Normaliser::softmax;
  bool divide_by_visible = false;  // sigmoid, relu, identity: divide each weight by the number of visible keys
  uint64_t seed = 0;               // sampled
  // softmax: one extra logit per head that takes weight but has no value. Weights then sum to less than 1.
  const float* sink = nullptr;  // [H]
};

/// Dropout on the weights: kept ones are divided by 1 - p. The mask is a function of (seed, b, h, i, j) alone, so the
/// backward draws it again instead of storing it.
struct Dropout {
  float p = 0.0f;
  uint64_t seed = 0;
};

/// Guided attention: cost_i = sum_j A_ij G(i, j), before dropout. Tachibana et al. 2018.
struct Guide {
  // > 0: G = 1 - exp(-(i/Tq - j/Tk)^2 / (2 sigma^2)), Tq and Tk of each sequence (lengths respected)
  float sigma = 0.0f;
  // or a cost tensor [b, h, i, j] through strides, any of them 0 (for example 1 - given alignment)
  const float* tensor = nullptr;
  int64_t batch = 0, head = 0, query = 0, key = 0;
  bool packed = false;  // as Bias::packed
  // or links, given alignments: G = 1 on the keys of a query, 0 elsewhere, in all heads; cost_i is the weight on them.
  // Query row r, of all sequences one after another, has aligned_keys[aligned_offsets[r]] to
  // aligned_keys[aligned_offsets[r + 1]].
  const int64_t* aligned_offsets = nullptr;  // [B * Tq + 1]; ragged: [total queries + 1]
  const int32_t* aligned_keys = nullptr;     // numbers of keys in their sequence

  bool on() const { return sigma > 0.0f || tensor != nullptr || aligned_offsets != nullptr; }
};

/// Forced-forward (temporal) attention, Paulus et al. 2018: score_ti - log sum_{u < t} exp(score_ui) for t > 0.
/// Softmax only. Only visible pairs count in the sum.
struct ForcedForward {
  bool on = false;
  // The running log-sum-exp of each key's column, [B, H, Tk] (ragged: [H, total keys]). Null: starts empty. Otherwise
  // read as the state before the first query (-inf: nothing seen) and written as the state after the last one, so that
  // a target can be run step by step. The backward starts from the same first state: pass it a copy made before. Its
  // gradient goes from step to step the other way: Gradients::d_column_lse of a step is BackwardInputs::d_column_lse of
  // the step before.
  float* column_lse = nullptr;
};

struct Problem {
  Shape shape;
  Ragged ragged;
  Score score;
  Bias bias;
  Region region;
  Normalise normalise;
  Dropout dropout;
  Guide guide;
  ForcedForward forced_forward;
  // 0: OpenMP's default, or one if the work is done before a second thread would have started. The result has the same
  // bits for any number.
  int threads = 0;
};

// ----------------------------------------------------------------------------------------------- inputs and outputs

/// Buffers "of rows" hold one element per (b, h, i) at row_index().
inline int64_t row_index(const Problem& p, int64_t b, int64_t h, int64_t i) {
  if (p.ragged.query_offsets) return h * p.ragged.query_offsets[p.shape.batch] + p.ragged.query_offsets[b] + i;
  return (b * p.shape.heads + h) * p.shape.queries + i;
}
/// Number of elements of a buffer of rows.
inline int64_t row_count(const Problem& p) {
  const int64_t per_head =
      p.ragged.query_offsets ? p.ragged.query_offsets[p.shape.batch] : p.shape.batch * p.shape.queries;
  return p.shape.heads * per_head;
}

/// Strides of contiguous [B, heads, T, width] storage ([heads, total, width] when ragged).
template <class T>
Strided<T> contiguous(T* data, int64_t heads, int64_t rows, int64_t width) {
  return {data, heads * rows * width, rows * width, width, 1};
}

struct Inputs {
  ConstView q;  // [B, H, Tq, D]   (tanh_sum, pair_mlp: already projected, q' and k')
  ConstView k;  // [B, G, Tk, D]
  ConstView v;  // [B, G, Tk, Dv]
};

/// All outputs of the forward. `out` is required; the others are computed if not null.
struct Outputs {
  View out;                // [B, H, Tq, Dv]
  float* saved = nullptr;  // 2 floats per row, needed by backward() and weights(): shift and norm of the normaliser
  float* forced_saved = nullptr;  // forced_saved_floats(problem) floats; needed by the backward of forced-forward
  // kept_scores_floats(problem) floats, or null: scores for the backward, which then need not be computed again. Where
  // that number is 0, it is neither written nor read.
  float* kept_scores = nullptr;
  float* lse =
      nullptr;  // rows; log-sum-exp of the scores, the sink's too (softmax, argmax, sampled); -inf where there are none
  int32_t* choice = nullptr;    // rows; the chosen key (argmax, sampled), -1 for an empty row. Needed by their backward
  float* log_prob = nullptr;    // rows; log-probability of the choice under softmax (argmax, sampled)
  float* entropy = nullptr;     // rows; of softmax's weights before the Gaussian (softmax, argmax, sampled)
  float* guide_cost = nullptr;  // rows; sum_j A_ij G(i, j)
};

/// The outputs of the forward, and the incoming gradients.
struct BackwardInputs {
  ConstView out;  // the forward's outputs ...
  const float* saved = nullptr;
  const float* forced_saved = nullptr;
  const float* kept_scores = nullptr;  // null: scores are computed again
  const int32_t* choice = nullptr;
  const float* entropy = nullptr;       // needed with d_entropy
  const float* guide_cost = nullptr;    // needed with d_guide_cost
  ConstView d_out;                      // [B, H, Tq, Dv]
  const float* d_lse = nullptr;         // rows, or null for 0 (softmax)
  const float* d_log_prob = nullptr;    // rows, or null for 0 (sampled): reward minus baseline
  const float* d_entropy = nullptr;     // rows, or null for 0 (softmax, argmax, sampled)
  const float* d_guide_cost = nullptr;  // rows, or null for 0
  const float* d_column_lse = nullptr;  // of the state after the last query, like ForcedForward::column_lse; null: 0
};

struct MlpLayerGradient {
  float* d_weight = nullptr;  // [out, in]
  float* d_bias = nullptr;    // [out], or null
};

/// Requested gradients: those that are not null. Each is overwritten, not added to.
struct Gradients {
  View d_q;                                    // [B, H, Tq, D]
  View d_k;                                    // [B, G, Tk, D]
  View d_v;                                    // [B, G, Tk, Dv]
  float* d_score_v = nullptr;                  // like Score::v
  const MlpLayerGradient* d_layers = nullptr;  // [layer_count]
  float* d_bias_tensor = nullptr;              // like Bias::tensor, same strides
  float* d_alibi_slopes = nullptr;             // [H]
  float* d_relative = nullptr;                 // like Bias::relative
  float* d_sink = nullptr;                     // [H]
  float* d_centre = nullptr;                   // rows
  float* d_custom_score = nullptr;             // [parameters of the user's score]
  float* d_custom_bias = nullptr;              // [parameters of the user's bias]
  float* d_column_lse = nullptr;  // of the state before the first query, like ForcedForward::column_lse; 0 where -inf
};

}  // namespace heed::kernels
