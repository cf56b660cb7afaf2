#include "heed/tensor/op/norm.h"

#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

const std::vector<std::pair<int64_t, int64_t>> kNormShapes = {{0, 7}, {1, 2}, {7, 63}, {65, 5}, {3, 65}, {2, 200}};

/// `centred`: layer norm, otherwise RMS norm.
Matrix norm_reference(const Matrices& in, bool centred) {
  const Matrix& x = in[0];
  Matrix y(x.rows, x.cols);
  const auto n = static_cast<double>(x.cols);
  for (int64_t r = 0; r < x.rows; ++r) {
    double mean = 0.0, squares = 0.0;
    for (int64_t c = 0; c < x.cols && centred; ++c) mean += x(r, c) / n;
    for (int64_t c = 0; c < x.cols; ++c) squares += (x(r, c) - mean) * (x(r, c) - mean) / n;
    for (int64_t c = 0; c < x.cols; ++c)
      y(r, c) = in[1](0, c) * (x(r, c) - mean) / std::sqrt(squares + double{1e-5f}) + (centred ? in[2](0, c) : 0.0);
  }
  return y;
}

Matrix unit_reference(const Matrix& x) {
  Matrix y(x.rows, x.cols);
  for (int64_t r = 0; r < x.rows; ++r) {
    double squares = 0.0;
    for (int64_t c = 0; c < x.cols; ++c) squares += x(r, c) * x(r, c);
    for (int64_t c = 0; c < x.cols; ++c) y(r, c) = x(r, c) / std::sqrt(squares);
  }
  return y;
}

TEST(Norm, LayerNorm) {
  for (const auto& [n, d] : kNormShapes)
    check_gradients(
        {random(n, d), random(1, d), random(1, d)},
        [](Tape&, const Tensors& in) -> Tensors { return {layer_norm(in[0], in[1], in[2])}; },
        [](const Matrices& in) -> Matrices { return {norm_reference(in, true)}; });
}

TEST(Norm, RmsNorm) {
  for (const auto& [n, d] : kNormShapes)
    check_gradients(
        {random(n, d), random(1, d)}, [](Tape&, const Tensors& in) -> Tensors { return {rms_norm(in[0], in[1])}; },
        [](const Matrices& in) -> Matrices { return {norm_reference(in, false)}; });
}

TEST(Norm, UnitRows) {
  for (const auto& [n, d] : kNormShapes)
    check_gradients(
        {random(n, d)}, [](Tape&, const Tensors& in) -> Tensors { return {unit_rows(in[0])}; },
        [](const Matrices& in) -> Matrices { return {unit_reference(in[0])}; });
}

TEST(Norm, InputUsedTwice) {
  check_gradients(
      {random(5, 20), random(1, 20), random(1, 20)},
      [](Tape&, const Tensors& in) -> Tensors {
        return {layer_norm(in[0], in[1], in[2]), rms_norm(in[0], in[1]), unit_rows(in[0]),
                layer_norm(in[0], in[1], in[1])};
      },
      [](const Matrices& in) -> Matrices {
        return {norm_reference(in, true), norm_reference(in, false), unit_reference(in[0]),
                norm_reference({in[0], in[1], in[1]}, true)};
      });
}

TEST(Norm, SmallDifferencesOfLargeNumbers) {
  // mean 1000, deviation 1: E[x^2] - E[x]^2 in float32 would keep two digits of the variance
  Matrix x = random(3, 257);
  for (double& v : x.values) v = static_cast<float>(v + 1000.0);
  const Matrices in = {x, Matrix(1, 257, 1.0), Matrix(1, 257, 0.0)};
  on_every_isa([&] {
    const Outcome got =
        run([](Tape&, const Tensors& t) -> Tensors { return {layer_norm(t[0], t[1], t[2])}; }, in, {Matrix(3, 257)});
    expect_values(got.values, {norm_reference(in, true)}, 1e-4);
  });
}

TEST(Norm, ConstantAndZeroRows) {
  on_every_isa([&] {
    Tape tape;
    const std::vector<float> zeros(14, 0.0f), ones(14, 1.0f);
    const Tensor x = tape.input(zeros.data(), 2, 7, true), gain = tape.filled(1, 7, 2.0f),
                 bias = tape.filled(1, 7, 3.0f);
    const Tensor y = unit_rows(x);
    EXPECT_EQ(copy_of(y.data(), 14), zeros);
    EXPECT_EQ(copy_of(layer_norm(tape.input(ones.data(), 2, 7), gain, bias).data(), 14), std::vector<float>(14, 3.0f));
    EXPECT_EQ(copy_of(rms_norm(tape.input(zeros.data(), 2, 7), gain).data(), 14), zeros);
    tape.seed_gradient(y, ones.data());
    tape.run();
    EXPECT_EQ(copy_of(x.gradient(), 14), zeros);
  });
}

TEST(Norm, UnitRowsOfHugeAndTinyNumbers) {
  Tape tape;
  const std::vector<float> x = {3e30f, 4e30f, 3e-30f, 4e-30f};
  const Tensor y = unit_rows(tape.input(x.data(), 2, 2));
  for (int r = 0; r < 2; ++r) {
    EXPECT_FLOAT_EQ(y.row(r)[0], 0.6f);
    EXPECT_FLOAT_EQ(y.row(r)[1], 0.8f);
  }
}

TEST(Norm, AnyNumberOfThreads) {
  check_threads({random(603, 337), random(1, 337), random(1, 337)}, [](Tape&, const Tensors& in) -> Tensors {
    return {layer_norm(in[0], in[1], in[2]), rms_norm(in[0], in[1]), unit_rows(in[0])};
  });
}

TEST(Norm, Errors) {
  Tape tape;
  const Tensor x = tape.filled(2, 5, 1.0f), g = tape.filled(1, 5, 1.0f), bad = tape.filled(1, 4, 1.0f);
  expect_error([&] { layer_norm(x, bad, g); }, "layer_norm: gain is [1, 4], expected [1, 5]");
  expect_error([&] { layer_norm(x, g, bad); }, "layer_norm: bias is [1, 4], expected [1, 5]");
  expect_error([&] { layer_norm(x, g, Tensor()); }, "layer_norm: bias is empty");
  expect_error([&] { rms_norm(x, bad); }, "rms_norm: gain is [1, 4], expected [1, 5]");
  expect_error([&] { unit_rows(Tensor()); }, "unit_rows: x is empty");
}

}  // namespace
}  // namespace heed::test
