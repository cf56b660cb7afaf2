// A part of the loop with parameters. It knows where their gradients go; the loop only knows when.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heed::kernels {

class Learned {
 public:
  virtual ~Learned() = default;

  /// Floats in which a task adds up its share of the gradients, all parameters one after another. They start at 0. 0:
  /// nothing is learned, or the gradient is written in place.
  virtual size_t gradient_floats() const { return 0; }
  /// Before the first task: zeroes the requested gradients.
  virtual void zero_gradients() const {}
  /// Adds a task's sums, which all belong to `head`, to the requested gradients. Called in a fixed order of tasks, one
  /// at a time.
  virtual void add_gradients(const float* sums, int64_t head) const { (void)sums, (void)head; }
};

}  // namespace heed::kernels
