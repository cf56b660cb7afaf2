// What happens to weights between the normaliser and the values: the Gaussian of local attention, the guide's cost,
// dropout.
//   a = w * gaussian        cost_i = sum_j a_ij G_ij        out = dropout(a) V
#pragma once

#include "heed/kernels/loop/call_arena.h"
#include "heed/kernels/loop/rows.h"
#include "heed/kernels/loop/tile.h"
#include "heed/kernels/problem.h"

namespace heed::kernels {

class WeighKernel {
 public:
  virtual ~WeighKernel() = default;

  /// Per row, once per block: the generator's part, the centre.
  virtual void load_rows(const BlockTask& task, RowState& rows) const = 0;

  /// weights -> what the values are multiplied by; adds to rows.cost. Without dropout where `show`.
  virtual void forward(const Tile& weights, const Sequence& sequence, RowState& rows, bool show) const = 0;

  /// `after` = dropout(a) from `weights` w;  `d`: d_out . v -> d_w;  adds to rows.d_centre.
  virtual void backward(const Tile& weights, const Tile& after, const Tile& d, const Sequence& sequence,
                        RowState& rows) const = 0;
};

/// False: weights go to the values as they are.
bool weighs(const Problem& problem);

/// Null where not weighs().
ArenaPtr<WeighKernel> make_weigh(const Problem& problem, CallArena& arena);

}  // namespace heed::kernels
