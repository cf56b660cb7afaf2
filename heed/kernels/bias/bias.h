// What the loop asks of whatever is done to a score before the region hides pairs. One file per kind.
#pragma once

#include <vector>

#include "heed/kernels/loop/call_arena.h"
#include "heed/kernels/loop/tile.h"
#include "heed/kernels/problem.h"

namespace heed::kernels {

class BiasKernel {
 public:
  virtual ~BiasKernel() = default;

  virtual void add(const Tile& scores, const Sequence& sequence) const = 0;

  /// Floats of learned parameters of one head; 0: nothing is learned, or the gradient is written in place.
  virtual size_t parameter_floats() const { return 0; }
  /// Adds the gradient of this tile's d_scores: to `d_parameters` (parameter_floats() of them) or in place.
  virtual void backward(const Tile& d_scores, const Sequence& sequence, float* d_parameters) const = 0;
  /// Adds a task's parameter gradients to the user's. Called in a fixed order of tasks.
  virtual void add_parameter_gradient(const float* d_parameters, int64_t head) const { (void)d_parameters, (void)head; }
};

/// All biases that the problem has; `grad` (may be null) says which gradients are asked for. The bias tensor, whose
/// gradient is written in place and so needs the loop's turns, comes first where its gradient is asked for.
std::pmr::vector<ArenaPtr<BiasKernel>> make_biases(const Problem& problem, const Gradients* grad, CallArena& arena);

ArenaPtr<BiasKernel> make_tensor_bias(const Problem& problem, float* d_tensor, CallArena& arena);
ArenaPtr<BiasKernel> make_alibi(const Problem& problem, float* d_slopes, CallArena& arena);
ArenaPtr<BiasKernel> make_relative(const Problem& problem, float* d_table, CallArena& arena);
ArenaPtr<BiasKernel> make_custom_bias(const Problem& problem, float* d_parameters, CallArena& arena);

/// score -> cap * tanh(score / cap), and a copy of it for the backward where `keep` is not null ...
void softcap_forward(float cap, const Tile& scores, float* keep);
/// ... d *= 1 - (kept / cap)^2
void softcap_backward(float cap, const Tile& d_scores, const float* kept);

}  // namespace heed::kernels
