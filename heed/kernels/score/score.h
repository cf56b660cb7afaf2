// The loop's interface to a score. One file per score implements it, forward next to backward, and defines its
// ScoreEntry.
#pragma once

#include <cstddef>
#include <limits>

#include "heed/kernels/loop/call_arena.h"
#include "heed/kernels/loop/learned.h"
#include "heed/kernels/loop/tile.h"
#include "heed/kernels/problem.h"
#include "heed/kernels/reasons.h"

namespace heed::kernels {

/// A block of queries, or of keys, as a score needs it: the rows as given, and the score's own copy of them.
struct ScoreOperand {
  Rows rows;
  int count = 0;
  int64_t head = 0;          // of the queries, also where these are keys
  size_t stride = 0;         // queries: lanes of the block
  float* scratch = nullptr;  // query_floats() or key_floats()
};

/// What the backward of a tile adds to.
struct ScoreGradients {
  float* d_queries;  // the block's, query_gradient_floats()
  MutableRows d_k;   // row 0 is the key block's first row; null: not asked for
  float* sums;       // the parameters', gradient_floats()
};

class ScoreKernel : public Learned {
 public:
  /// A cost per pair that always justifies a second thread.
  static constexpr double kMuchWork = std::numeric_limits<double>::infinity();

  /// Approximate number of multiply-adds for the score of a pair.
  virtual double cost_of_pair() const = 0;
  /// For explain(), if there is more to say than the formula: how scores of blocks of up to `queries` queries are
  /// computed. Null: nothing.
  virtual const char* explain(int64_t queries) const {
    (void)queries;
    return nullptr;
  }

  /// Floats of scratch for a block of `width` queries, for a block of `keys` keys, and for the gradient of the queries.
  virtual size_t query_floats(size_t width) const = 0;
  virtual size_t key_floats(size_t keys) const = 0;
  virtual size_t query_gradient_floats(size_t width) const = 0;

  /// All work per token: into q.scratch ...
  virtual void load_queries(const ScoreOperand& q) const = 0;
  /// ... and k.scratch.
  virtual void load_keys(const ScoreOperand& k) const = 0;

  /// tile[key][query] = score. The tile's lane and row say which of the prepared queries and keys it pairs.
  virtual void forward(const ScoreOperand& q, const ScoreOperand& k, const Tile& tile) const = 0;

  /// From d_score in `tile`.
  virtual void backward(const ScoreOperand& q, const ScoreOperand& k, const Tile& tile,
                        const ScoreGradients& to) const = 0;

  /// The block's finished query gradient to the rows of d_q.
  virtual void store_query_gradient(const ScoreOperand& q, const float* d_queries, MutableRows d_q) const = 0;
};

/// Gradients of parameters that a score has; others are refused.
struct ScoreParameters {
  bool v = false;       // Gradients::d_score_v
  bool layers = false;  // Gradients::d_layers
  bool custom = false;  // Gradients::d_custom_score
};

/// What must be known about a score before it is made.
struct ScoreEntry {
  /// Queries of a block, unless the score says otherwise: docs/kernels.md.
  static constexpr int kBlockQueries = 96;

  /// `grad` says which gradients are requested; null: a forward. Returns null if the score is 0 and reads neither q nor
  /// k.
  ArenaPtr<ScoreKernel> (*make)(const Problem& problem, const Gradients* grad, CallArena& arena);
  /// What is wrong with problem.score; null: nothing can be.
  void (*check)(const Problem& problem, Reasons& reasons) = nullptr;
  ScoreParameters has = {};
  bool reads_rows = true;             // q and k; otherwise the score is 0
  bool is_inner_product = false;      // scale * <q, k>, which few queries may compute as decode.h says
  bool is_expensive = false;          // takes longer to compute than to write and read: kept_scores_floats()
  int block_queries = kBlockQueries;  // at most; a multiple of every panel (plan.h)
};

namespace scores {
#define HEED_SCORE(name) extern const ScoreEntry name;
HEED_SCORES(HEED_SCORE)
#undef HEED_SCORE
}  // namespace scores

const ScoreEntry& score_entry(const Problem& problem);

}  // namespace heed::kernels
