#include "heed/layer/norm.h"

#include <gtest/gtest.h>

#include "tests/layer/check_layer.h"

namespace heed::test {
namespace {

TEST(Norm, LayerNorm) {
  for (const float epsilon : {1e-5f, 0.25f}) {
    Parameters all(1);
    const LayerNorm layer(Scope(all) / "norm", 9, epsilon);
    EXPECT_EQ(names(all), (std::vector<std::string>{"norm.gain", "norm.bias"}));
    EXPECT_EQ(layer.gain->value, std::vector<float>(9, 1.0f));
    EXPECT_EQ(layer.bias->value, std::vector<float>(9, 0.0f));
    scatter(all);
    check_layer({&all,
                 {random(4, 9)},
                 [&](Tape&, const Tensors& x) { return Tensors{layer(x[0])}; },
                 [&](const Weights& w, const Matrices& inputs) {
                   const Matrix& x = inputs[0];
                   return Matrices{make_matrix(4, 9, [&](int64_t r, int64_t c) {
                     double mean = 0.0, variance = 0.0;
                     for (int64_t i = 0; i < 9; ++i) mean += x(r, i) / 9.0;
                     for (int64_t i = 0; i < 9; ++i) variance += (x(r, i) - mean) * (x(r, i) - mean) / 9.0;
                     return (x(r, c) - mean) / std::sqrt(variance + epsilon) * w.at("norm.gain")(0, c) +
                            w.at("norm.bias")(0, c);
                   })};
                 }});
  }
}

TEST(Norm, RmsNorm) {
  for (const float epsilon : {1e-5f, 0.25f}) {
    Parameters all(1);
    const RmsNorm layer(Scope(all) / "norm", 9, epsilon);
    EXPECT_EQ(names(all), std::vector<std::string>{"norm.gain"});
    EXPECT_EQ(layer.gain->value, std::vector<float>(9, 1.0f));
    scatter(all);
    check_layer({&all,
                 {random(4, 9)},
                 [&](Tape&, const Tensors& x) { return Tensors{layer(x[0])}; },
                 [&](const Weights& w, const Matrices& inputs) {
                   const Matrix& x = inputs[0];
                   return Matrices{make_matrix(4, 9, [&](int64_t r, int64_t c) {
                     double square = 0.0;
                     for (int64_t i = 0; i < 9; ++i) square += x(r, i) * x(r, i) / 9.0;
                     return x(r, c) / std::sqrt(square + epsilon) * w.at("norm.gain")(0, c);
                   })};
                 }});
  }
}

}  // namespace
}  // namespace heed::test
