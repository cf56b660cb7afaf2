#include "heed/tensor/op/linear.h"

#include "heed/tensor/forward_product.h"
#include "heed/tensor/gemm.h"
#include "heed/tensor/gradient.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/tape.h"

namespace heed {

Tensor linear(Tensor x, Tensor weight, Tensor bias) {
  expect_there("linear", "x", x);
  expect_there("linear", "weight", weight);
  expect(x.cols() == weight.cols(), "linear: x has {} columns, weight [{}, {}] wants {}", x.cols(), weight.rows(),
         weight.cols(), weight.cols());
  const int64_t n = x.rows(), in = weight.cols(), out = weight.rows();
  if (bias) expect_shape("linear", "bias", bias, 1, out);
  Tape& tape = x.tape();
  Tensor y = tape.make_from(n, out, x, weight, bias);
  const ForwardProduct product(weight);
  product({.rows = n, .x = x.data(), .bias = bias ? bias.data() : nullptr, .y = y.data()});
  tape.on_backward([=] {
    const float* g = y.gradient();
    if (const GradientSink d_x = x.sink())  // d_x = d_y W
      gemm({.m = n,
            .n = in,
            .k = out,
            .a = g,
            .b = weight.data(),
            .c = d_x.data,
            .a_stride = out,
            .b_stride = in,
            .c_stride = in,
            .beta = d_x.beta()});
    if (const GradientSink d_w = weight.sink())  // d_W = d_y^T x
      gemm({.m = out,
            .n = in,
            .k = n,
            .a = g,
            .b = x.data(),
            .c = d_w.data,
            .a_stride = out,
            .b_stride = in,
            .c_stride = in,
            .a_transposed = true,
            .beta = d_w.beta()});
    add_column_sums(bias.sink(), {g, n, out});
  });
  return y;
}

Tensor matmul(Tensor a, Tensor b) {
  expect_there("matmul", "a", a);
  expect_there("matmul", "b", b);
  expect(a.cols() == b.rows(), "matmul: [{}, {}] times [{}, {}]: {} columns meet {} rows", a.rows(), a.cols(), b.rows(),
         b.cols(), a.cols(), b.rows());
  const int64_t n = a.rows(), k = a.cols(), m = b.cols();
  Tape& tape = a.tape();
  Tensor y = tape.make_from(n, m, a, b);
  const ForwardProduct product(b, WeightOrder::kInOut);
  product({.rows = n, .x = a.data(), .y = y.data()});
  tape.on_backward([=] {
    const float* g = y.gradient();
    if (const GradientSink d_a = a.sink())  // d_a = d_y b^T
      gemm({.m = n,
            .n = k,
            .k = m,
            .a = g,
            .b = b.data(),
            .c = d_a.data,
            .a_stride = m,
            .b_stride = m,
            .c_stride = k,
            .b_transposed = true,
            .beta = d_a.beta()});
    if (const GradientSink d_b = b.sink())  // d_b = a^T d_y
      gemm({.m = k,
            .n = m,
            .k = n,
            .a = a.data(),
            .b = g,
            .c = d_b.data,
            .a_stride = k,
            .b_stride = m,
            .c_stride = m,
            .a_transposed = true,
            .beta = d_b.beta()});
  });
  return y;
}

}  // namespace heed
