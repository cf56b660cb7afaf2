// The loop's interface to a normaliser: scores to weights, and the gradient back. One file per family implements it.
#pragma once

#include "heed/kernels/loop/call_arena.h"
#include "heed/kernels/loop/learned.h"
#include "heed/kernels/loop/rows.h"
#include "heed/kernels/loop/tile.h"
#include "heed/kernels/problem.h"

namespace heed::kernels {

class NormaliserKernel : public Learned {
 public:
  /// For explain(): when weights are known.
  virtual const char* explain() const = 0;

  /// True: all scores of a row must be seen before its first weight is known (the loop then keeps a strip of them).
  virtual bool whole_rows() const = 0;

  /// Per row, once per block, both directions.
  virtual void load_rows(const BlockTask& task, RowState& rows) const { (void)task, (void)rows; }

  /// Forward, key block by key block. begin() before the first; absorb() turns the tile's scores into weights that
  /// still lack the factor `inverse`, and returns true if earlier sums must be multiplied by rows.rescale.
  virtual void begin(RowState& rows, int64_t head, int count) const = 0;
  virtual bool absorb(const Tile& tile, RowState& rows) const = 0;

  /// Forward with whole_rows(): `strip` holds every score of the block's rows (hidden ones -inf), in `piece`s.
  virtual void solve(const Tile* pieces, int piece_count, RowState& rows, int count) const {
    (void)pieces, (void)piece_count, (void)rows, (void)count;
  }

  /// After the last key: rows.shift and rows.inverse become what weights() needs.
  virtual void finish(RowState& rows, int count) const = 0;

  /// Weights from scores by rows.shift and rows.inverse. `scores` and `weights` may be the same buffer.
  virtual void weights(const Tile& scores, const Tile& weights, const RowState& rows) const = 0;

  /// Backward. True: gradient() reads the scores, so weights() must not overwrite them.
  virtual bool gradient_reads_scores() const = 0;
  /// True: rows.delta is sum_j w_j d_w_j, which follows from the outputs and what came back for them.
  virtual bool delta_from_outputs() const { return false; }
  /// True: rows.delta must be found by a pass of accumulate() over all tiles before gradient().
  virtual bool gradient_needs_pass() const { return false; }
  virtual void accumulate(const Tile& scores, const Tile& weights, const Tile& d_weights, RowState& rows) const {
    (void)scores, (void)weights, (void)d_weights, (void)rows;
  }
  /// `d` holds d_weights and becomes d_scores.
  virtual void gradient(const Tile& scores, const Tile& weights, const Tile& d, const RowState& rows) const = 0;
  /// After a task's last tile: its share of the gradients of learned parameters, gradient_floats() of them.
  virtual void parameter_gradient(const RowState& rows, const BlockTask& task, float* sums) const {
    (void)rows, (void)task, (void)sums;
  }
};

struct NormaliserOptions {
  bool entropy = false;    // forward: keep rows.surprise
  bool d_entropy = false;  // backward: add the entropy's gradient
};

/// Nothing but the softmax of the scores themselves.
bool is_plain_softmax(const Normalise& normalise);

/// `grad` (may be null) says which gradients are requested.
ArenaPtr<NormaliserKernel> make_normaliser(const Problem& problem, NormaliserOptions options, const Gradients* grad,
                                           CallArena& arena);

ArenaPtr<NormaliserKernel> make_softmax(const Problem& problem, NormaliserOptions options, const Gradients* grad,
                                        CallArena& arena);
ArenaPtr<NormaliserKernel> make_pointwise(const Problem& problem, CallArena& arena);
ArenaPtr<NormaliserKernel> make_sparse(const Problem& problem, CallArena& arena);
ArenaPtr<NormaliserKernel> make_choice(const Problem& problem, NormaliserOptions options, CallArena& arena);

}  // namespace heed::kernels
