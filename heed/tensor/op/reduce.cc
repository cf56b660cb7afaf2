#include "heed/tensor/op/reduce.h"

#include <algorithm>

#include "heed/kernels/exact_math.h"
#include "heed/tensor/gradient.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/tape.h"

namespace heed {

namespace {

/// y = sum_i f(i) over the elements of x; d_x[i] = d_y slope(i).
template <class F, class Slope>
Tensor reduce(Tensor x, const F& f, const Slope& slope) {
  Tape& tape = x.tape();
  Tensor y = tape.make_from(1, 1, x);
  *y.data() = static_cast<float>(sum_in_order(x.size(), f));
  tape.on_backward([=] {
    const float g = *y.gradient();
    add_gradient(x.sink(), x.size(), [=](int64_t i) { return g * slope(i); });
  });
  return y;
}

}  // namespace

Tensor sum(Tensor x) {
  expect_there("sum", "x", x);
  return reduce(
      x, [p = x.data()](int64_t i) { return p[i]; }, [](int64_t) { return 1.0f; });
}

Tensor mean(Tensor x) {
  expect_there("mean", "x", x);
  const double share = x.size() > 0 ? 1.0 / static_cast<double>(x.size()) : 0.0;
  return reduce(
      x, [p = x.data(), share](int64_t i) { return share * p[i]; },
      [share = static_cast<float>(share)](int64_t) { return share; });
}

Tensor weighted_sum(Tensor x, const float* weights) {
  expect_there("weighted_sum", "x", x);
  return reduce(
      x, [p = x.data(), weights](int64_t i) { return double{weights[i]} * p[i]; },
      [weights](int64_t i) { return weights[i]; });
}

Tensor weighted_log_sum(Tensor x, const float* weights) {
  expect_there("weighted_log_sum", "x", x);
  const auto above_zero = [p = x.data()](int64_t i) { return std::max(p[i], 1e-6f); };
  return reduce(
      x, [=](int64_t i) { return weights[i] == 0.0f ? 0.0 : weights[i] * exact::log(above_zero(i)); },
      [=](int64_t i) { return weights[i] / above_zero(i); });
}

Tensor sum_squares(Tensor x) {
  expect_there("sum_squares", "x", x);
  return reduce(
      x, [p = x.data()](int64_t i) { return double{p[i]} * p[i]; }, [p = x.data()](int64_t i) { return 2.0f * p[i]; });
}

std::vector<int32_t> largest_columns(Tensor x) {
  expect_there("largest_columns", "x", x);
  expect(x.cols() > 0, "largest_columns: x must have columns, but is [{}, 0]", x.rows());
  std::vector<int32_t> columns;
  for (int64_t r = 0; r < x.rows(); ++r)
    columns.push_back(static_cast<int32_t>(std::max_element(x.row(r), x.row(r) + x.cols()) - x.row(r)));
  return columns;
}

}  // namespace heed
