// The loop's interface to everything done to a score before the region hides pairs. One file per kind.
#pragma once

#include <vector>

#include "heed/kernels/loop/call_arena.h"
#include "heed/kernels/loop/learned.h"
#include "heed/kernels/loop/tile.h"
#include "heed/kernels/problem.h"

namespace heed::kernels {

class BiasKernel : public Learned {
 public:
  virtual void add(const Tile& scores, const Sequence& sequence) const = 0;

  /// Adds the gradient of this tile's d_scores: to `sums` (gradient_floats() of them) or in place.
  virtual void backward(const Tile& d_scores, const Sequence& sequence, float* sums) const = 0;

  /// A gradient that is written in place is cut into this many slots (0: none is); with a key block a task adds to one
  /// of them ...
  virtual size_t places(const Geometry& geometry) const {
    (void)geometry;
    return 0;
  }
  /// ... to this one, and tasks that share it wait for their turn.
  virtual size_t place(const Geometry& geometry, const BlockTask& task, int32_t key_block) const {
    (void)geometry, (void)task, (void)key_block;
    return 0;
  }

  /// User code, whose running time is unknown.
  virtual bool is_custom() const { return false; }
};

/// Whether the problem has any.
bool has_bias(const Bias& bias);

/// All biases that the problem has; `grad` (may be null) says which gradients are requested. At most one of them, the
/// tensor, writes its gradient in place.
std::pmr::vector<ArenaPtr<BiasKernel>> make_biases(const Problem& problem, const Gradients* grad, CallArena& arena);

ArenaPtr<BiasKernel> make_tensor_bias(const Problem& problem, float* d_tensor, CallArena& arena);
ArenaPtr<BiasKernel> make_alibi(const Problem& problem, float* d_slopes, CallArena& arena);
ArenaPtr<BiasKernel> make_relative(const Problem& problem, float* d_table, CallArena& arena);
ArenaPtr<BiasKernel> make_custom_bias(const Problem& problem, float* d_parameters, CallArena& arena);

/// score -> cap * tanh(score / cap), and a copy of it for the backward if `keep` is not null ...
void softcap_forward(float cap, const Tile& scores, float* keep);
/// ... d *= 1 - (kept / cap)^2
void softcap_backward(float cap, const Tile& d_scores, const float* kept);

}  // namespace heed::kernels
