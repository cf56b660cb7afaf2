// Library against reference, on every instruction set of the machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/library.h"
#include "tests/kernels/reference.h"
#include "tests/kernels/tolerance.h"

namespace heed::kernels::test {

/// Runs `body` once for each instruction set, then goes back to the best.
void on_every_isa(const std::function<void()>& body);

/// Bits, not numbers: NaN and -0 count as what they are.
testing::AssertionResult same_bits(const std::vector<float>& a, const std::vector<float>& b);

/// The truth in double, and a bound on the error of each of its numbers in float32.
class Expected {
 public:
  Results<double> truth;
  Values<double> d_truth;

  Expected(const Case& c, bool gradients);

  void compare_results(Results<float>& got, bool weights);
  void compare_gradients(Values<float>& got);

  /// One tensor of the results, or the gradient of one input, by name.
  testing::AssertionResult result_close(const std::string& name, const std::vector<float>& got);
  testing::AssertionResult gradient_close(const std::string& name, const std::vector<float>& got);

 private:
  std::vector<std::vector<double>> bounds_, d_bounds_;  // of each tensor, in the order of named()
};

/// What to compare.
struct Compare {
  bool gradients = true;
  bool weights = false;
  Layout layout = {};
  int threads = 1;  // property_test.cc shows that any number gives the same bits
};

/// The whole check of one case. A sampled choice is taken over from the library, once per instruction set.
void expect_like_reference(Case c, const Compare& what = {});

}  // namespace heed::kernels::test
