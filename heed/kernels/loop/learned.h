// A part of the loop with parameters of its own. It knows where their gradients go; the loop knows only when.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heed::kernels {

class Learned {
 public:
  virtual ~Learned() = default;

  /// Floats in which a task adds up its share of the gradients, all parameters one after the other. They begin at 0.
  /// 0: nothing is learned, or the gradient is written in place.
  virtual size_t gradient_floats() const { return 0; }
  /// Before the first task: the gradients that the caller asked for become 0.
  virtual void zero_gradients() const {}
  /// Adds a task's sums, which all belong to `head`, to what the caller asked for. Called in a fixed order of tasks,
  /// one at a time.
  virtual void add_gradients(const float* sums, int64_t head) const { (void)sums, (void)head; }
};

}  // namespace heed::kernels
