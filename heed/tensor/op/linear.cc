#include "heed/tensor/op/linear.h"

#include "heed/tensor/gradient.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/tape.h"
#include "heed/tensor/weight_product.h"

namespace heed {

Tensor linear(Tensor x, Tensor weight, Tensor bias) {
  expect_there("linear", "x", x);
  expect_there("linear", "weight", weight);
  expect(x.cols() == weight.cols(), "linear: x has {} columns, weight [{}, {}] needs {}", x.cols(), weight.rows(),
         weight.cols(), weight.cols());
  const int64_t n = x.rows(), in = weight.cols(), out = weight.rows();
  if (bias) expect_shape("linear", "bias", bias, 1, out);
  Tape& tape = x.tape();
  Tensor y = tape.make_from(n, out, x, weight, bias);
  WeightProduct{weight}({.rows = n, .x = x.data(), .bias = bias ? bias.data() : nullptr, .y = y.data()});
  tape.on_backward([=] {
    const float* g = y.gradient();
    if (const GradientSink d_x = x.sink())  // d_x = d_y W
      WeightProduct{weight, WeightOrder::in_out}({.rows = n, .x = g, .y = d_x.data, .add = !d_x.fresh});
    // d_W = d_y^T x,  d_b = sum of d_y
    multiply({.rows = n,
              .left = g,
              .left_cols = out,
              .right = x.data(),
              .right_cols = in,
              .sum = weight.sink(),
              .left_sum = bias.sink()});
  });
  return y;
}

Tensor matmul(Tensor a, Tensor b) {
  expect_there("matmul", "a", a);
  expect_there("matmul", "b", b);
  expect(a.cols() == b.rows(), "matmul: cannot multiply [{}, {}] by [{}, {}]: {} columns, but {} rows", a.rows(),
         a.cols(), b.rows(), b.cols(), a.cols(), b.rows());
  const int64_t n = a.rows(), k = a.cols(), m = b.cols();
  Tape& tape = a.tape();
  Tensor y = tape.make_from(n, m, a, b);
  WeightProduct{b, WeightOrder::in_out}({.rows = n, .x = a.data(), .y = y.data()});
  tape.on_backward([=] {
    const float* g = y.gradient();
    if (const GradientSink d_a = a.sink())  // d_a = d_y b^T
      WeightProduct{b}({.rows = n, .x = g, .y = d_a.data, .add = !d_a.fresh});
    if (const GradientSink d_b = b.sink())  // d_b = a^T d_y
      multiply({.rows = n, .left = a.data(), .left_cols = k, .right = g, .right_cols = m, .sum = d_b});
  });
  return y;
}

}  // namespace heed
