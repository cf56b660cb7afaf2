#include "heed/tensor/op/arithmetic.h"

#include "heed/tensor/gradient.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/tape.h"

namespace heed {

namespace {

template <class F>
void fill(Tensor y, const F& f) {
  float* out = y.data();
  for_pieces(y.size(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = f(i);
  });
}

/// y.row(r) = x.row(r) * factor[r]
void scale_each_row(Tensor x, const float* factor, Tensor y) {
  for_pieces(x.rows(), x.cols(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      for (int64_t c = 0; c < x.cols(); ++c) y.row(r)[c] = factor[r] * x.row(r)[c];
  });
}

/// d_x.row(r) (+)= d_y.row(r) * factor[r]
void scale_each_row_backward(const float* d_y, const float* factor, Tensor x) {
  const GradientSink d_x = x.sink();
  if (!d_x) return;
  const int64_t cols = x.cols();
  for_pieces(x.rows(), cols, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      for (int64_t i = r * cols; i < (r + 1) * cols; ++i)
        d_x.data[i] = factor[r] * d_y[i] + (d_x.fresh ? 0.0f : d_x.data[i]);
  });
}

}  // namespace

Tensor add(Tensor a, Tensor b) {
  expect_same_shape("add", a, b);
  Tape& tape = a.tape();
  Tensor y = tape.make_from(a.rows(), a.cols(), a, b);
  fill(y, [p = a.data(), q = b.data()](int64_t i) { return p[i] + q[i]; });
  tape.on_backward([=] {
    add_gradient(b.sink(), b.size(), [g = y.gradient()](int64_t i) { return g[i]; });
    y.tape().pass_gradient(y, a);
  });
  return y;
}

Tensor subtract(Tensor a, Tensor b) {
  expect_same_shape("subtract", a, b);
  Tape& tape = a.tape();
  Tensor y = tape.make_from(a.rows(), a.cols(), a, b);
  fill(y, [p = a.data(), q = b.data()](int64_t i) { return p[i] - q[i]; });
  tape.on_backward([=] {
    add_gradient(b.sink(), b.size(), [g = y.gradient()](int64_t i) { return -g[i]; });
    y.tape().pass_gradient(y, a);
  });
  return y;
}

Tensor multiply(Tensor a, Tensor b) {
  expect_same_shape("multiply", a, b);
  Tape& tape = a.tape();
  Tensor y = tape.make_from(a.rows(), a.cols(), a, b);
  fill(y, [p = a.data(), q = b.data()](int64_t i) { return p[i] * q[i]; });
  tape.on_backward([=] {  // d_a = d_y b, d_b = d_y a
    const float* g = y.gradient();
    add_gradient(a.sink(), a.size(), [g, q = b.data()](int64_t i) { return g[i] * q[i]; });
    add_gradient(b.sink(), b.size(), [g, p = a.data()](int64_t i) { return g[i] * p[i]; });
  });
  return y;
}

Tensor scale(Tensor x, float factor) {
  expect_there("scale", "x", x);
  Tape& tape = x.tape();
  Tensor y = tape.make_from(x.rows(), x.cols(), x);
  fill(y, [p = x.data(), factor](int64_t i) { return factor * p[i]; });
  tape.on_backward(
      [=] { add_gradient(x.sink(), x.size(), [g = y.gradient(), factor](int64_t i) { return factor * g[i]; }); });
  return y;
}

Tensor scale(Tensor x, Tensor factor) {
  expect_there("scale", "x", x);
  expect_shape("scale", "the factor", factor, 1, 1);
  Tape& tape = x.tape();
  Tensor y = tape.make_from(x.rows(), x.cols(), x, factor);
  fill(y, [p = x.data(), f = factor.item()](int64_t i) { return f * p[i]; });
  tape.on_backward([=] {  // d_x = f d_y, d_f = sum d_y x
    const float* g = y.gradient();
    add_gradient(x.sink(), x.size(), [g, f = factor.item()](int64_t i) { return f * g[i]; });
    if (factor.needs_gradient()) {
      const double sum = sum_in_order(x.size(), [g, p = x.data()](int64_t i) { return double{g[i]} * p[i]; });
      add_number(factor.sink(), static_cast<float>(sum));
    }
  });
  return y;
}

Tensor add_row(Tensor x, Tensor row) {
  expect_there("add_row", "x", x);
  expect_shape("add_row", "the row", row, 1, x.cols());
  Tape& tape = x.tape();
  Tensor y = tape.make_from(x.rows(), x.cols(), x, row);
  for_pieces(x.rows(), x.cols(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      for (int64_t c = 0; c < x.cols(); ++c) y.row(r)[c] = x.row(r)[c] + row.data()[c];
  });
  tape.on_backward([=] {  // d_x = d_y, d_row = the sum of its rows
    add_column_sums(row.sink(), {y.gradient(), y.rows(), y.cols()});
    y.tape().pass_gradient(y, x);
  });
  return y;
}

Tensor scale_rows(Tensor x, const float* factor) {
  expect_there("scale_rows", "x", x);
  Tape& tape = x.tape();
  Tensor y = tape.make_from(x.rows(), x.cols(), x);
  scale_each_row(x, factor, y);
  tape.on_backward([=] { scale_each_row_backward(y.gradient(), factor, x); });
  return y;
}

Tensor scale_rows(Tensor x, Tensor factor) {
  expect_there("scale_rows", "x", x);
  expect_shape("scale_rows", "the factor", factor, x.rows(), 1);
  Tape& tape = x.tape();
  Tensor y = tape.make_from(x.rows(), x.cols(), x, factor);
  scale_each_row(x, factor.data(), y);
  tape.on_backward([=] {  // d_x[r, c] = f[r] d_y[r, c], d_f[r] = sum_c d_y[r, c] x[r, c]
    const float* g = y.gradient();
    scale_each_row_backward(g, factor.data(), x);
    const int64_t cols = x.cols();
    add_gradient(factor.sink(), x.rows(), [=, p = x.data()](int64_t r) {
      float dot = 0.0f;
      for (int64_t i = r * cols; i < (r + 1) * cols; ++i) dot += g[i] * p[i];
      return dot;
    });
  });
  return y;
}

}  // namespace heed
