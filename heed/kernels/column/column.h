// The loop's interface to a column state: what a key's earlier queries leave for its later ones. The forward
// runs along the queries, the backward against them; query blocks that share a key take turns, and a tile holds all
// queries of its block.
#pragma once

#include <cstddef>

#include "heed/kernels/loop/call_arena.h"
#include "heed/kernels/loop/tile.h"
#include "heed/kernels/problem.h"

namespace heed::kernels {

class ColumnKernel {
 public:
  virtual ~ColumnKernel() = default;

  /// Floats of scratch of a block.
  virtual size_t scratch_floats() const = 0;

  // Before the first task. A forward leaves in `out` what the others need ...
  virtual void begin_forward(const Outputs& out, CallArena& arena) = 0;
  // ... weights on request, from what a forward left ...
  virtual void begin_again(const Outputs& from) = 0;
  // ... and a backward, of which finish_backward() gives out the gradient of the first state.
  virtual void begin_backward(const BackwardInputs& from, const Gradients& grad, CallArena& arena) = 0;
  virtual void finish_backward() const = 0;

  /// Changes the scores of a tile by the state of its columns, and updates the state.
  virtual void forward(const Tile& scores, const Sequence& sequence, float* scratch) const = 0;
  /// The same from what the forward left: any tile, in any order.
  virtual void again(const Tile& scores, const Sequence& sequence, float* scratch) const = 0;
  /// `d` holds the gradient of the changed scores and becomes that of the scores. After again() of the same tile.
  virtual void backward(const Tile& d, const Sequence& sequence, float* scratch) const = 0;
};

/// The columns have a state.
bool has_column_state(const Problem& problem);

/// Null unless has_column_state(). `backward`: again() keeps what backward() needs.
ArenaPtr<ColumnKernel> make_column(const Problem& problem, bool backward, CallArena& arena);

}  // namespace heed::kernels
