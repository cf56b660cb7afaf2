// What the loop asks of a score. One file per score implements it, forward beside backward.
#pragma once

#include <cstddef>

#include "heed/kernels/loop/call_arena.h"
#include "heed/kernels/loop/tile.h"
#include "heed/kernels/problem.h"

namespace heed::kernels {

/// A block of queries, or of keys, as a score wants to see it: the rows as given, and the score's own copy of them.
struct ScoreOperand {
  Rows rows;
  int count = 0;
  size_t stride = 0;         // queries: lanes of the block
  float* scratch = nullptr;  // query_floats() or key_floats()
};

class ScoreKernel {
 public:
  virtual ~ScoreKernel() = default;

  /// Floats of scratch for a block of `width` queries, for a block of `keys` keys, and for the gradient of the queries.
  virtual size_t query_floats(size_t width) const = 0;
  virtual size_t key_floats(size_t keys) const = 0;
  virtual size_t query_gradient_floats(size_t width) const = 0;
  /// Learned parameters of the score itself, all of them one after the other.
  virtual size_t parameter_floats() const { return 0; }

  /// Everything that is done once per token: into q.scratch ...
  virtual void load_queries(const ScoreOperand& q, int64_t head) const = 0;
  /// ... and k.scratch.
  virtual void load_keys(const ScoreOperand& k, int64_t head) const = 0;

  /// tile[key][query] = score. The tile's lane and row say which of the prepared queries and keys it pairs.
  virtual void forward(const ScoreOperand& q, const ScoreOperand& k, const Tile& tile) const = 0;

  /// From d_score in `tile`: adds to the block's query gradient, to the rows of d_k (the key block's first row is row
  /// 0; null: not asked for) and to d_parameters (null: not asked for).
  virtual void backward(const ScoreOperand& q, const ScoreOperand& k, const Tile& tile, float* d_queries,
                        MutableRows d_k, float* d_parameters) const = 0;

  /// The block's finished query gradient to the rows of d_q.
  virtual void store_query_gradient(const ScoreOperand& q, const float* d_queries, MutableRows d_q) const = 0;

  /// Adds a task's parameter gradients to the user's (which began as 0). Called in a fixed order of tasks.
  virtual void add_parameter_gradient(const float* d_parameters, int64_t head, const Gradients& grad) const {
    (void)d_parameters, (void)head, (void)grad;
  }
};

/// The kernel of problem.score. `backward`: also prepare what the backward needs. Null for ScoreKind::none.
ArenaPtr<ScoreKernel> make_score(const Problem& problem, bool backward, CallArena& arena);

ArenaPtr<ScoreKernel> make_inner(const Problem& problem, bool backward, CallArena& arena);
ArenaPtr<ScoreKernel> make_tanh_sum(const Problem& problem, bool backward, CallArena& arena);
ArenaPtr<ScoreKernel> make_pair_mlp(const Problem& problem, bool backward, CallArena& arena);
ArenaPtr<ScoreKernel> make_custom(const Problem& problem, bool backward, CallArena& arena);

}  // namespace heed::kernels
