#include "heed/layer/feed_forward.h"

#include <tuple>

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "tests/layer/check_layer.h"

namespace heed::test {
namespace {

double apply(Activation f, double x) {
  switch (f) {
    case Activation::identity:
      return x;
    case Activation::tanh:
      return std::tanh(x);
    case Activation::relu:
      return relu(x);
    case Activation::sigmoid:
      return sigmoid(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::silu:
      return silu(x);
    case Activation::gelu_tanh:
      return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case Activation::gelu_sigmoid:
      return x * sigmoid(1.702 * x);
  }
  return NAN;
}

using Choice = std::tuple<Activation, bool, bool>;  // f, gated, bias
class FeedForwards : public testing::TestWithParam<Choice> {};

TEST_P(FeedForwards, ValuesAndGradients) {
  const auto [f, gated, bias] = GetParam();
  Parameters all(2);
  const FeedForward layer(Scope(all) / "ff",
                          {.width = 5, .hidden = 7, .activation = f, .gated = gated, .bias = bias, .dropout = 0.0f});
  std::vector<std::string> expected;
  for (const char* part : {"up", "gate", "down"}) {
    if (!gated && part == std::string("gate")) continue;
    expected.push_back(std::string("ff.") + part + ".weight");
    if (bias) expected.push_back(std::string("ff.") + part + ".bias");
  }
  EXPECT_EQ(names(all), expected);
  scatter(all);
  check_layer({&all,
               {random(4, 5)},
               [&](Tape&, const Tensors& x) { return Tensors{layer(x[0])}; },
               [f = f, gated = gated](const Weights& w, const Matrices& x) {
                 const Matrix up = linear(x[0], w, "ff.up.");
                 const Matrix gate = gated ? linear(x[0], w, "ff.gate.") : Matrix();
                 const Matrix hidden = make_matrix(up.rows, up.cols, [&](int64_t r, int64_t c) {
                   return gated ? apply(f, gate(r, c)) * up(r, c) : apply(f, up(r, c));
                 });
                 return Matrices{linear(hidden, w, "ff.down.")};
               }});
}
INSTANTIATE_TEST_SUITE_P(All, FeedForwards,
                         testing::Combine(testing::Values(Activation::relu, Activation::gelu, Activation::silu,
                                                          Activation::gelu_tanh, Activation::gelu_sigmoid),
                                          testing::Bool(), testing::Bool()));

TEST(FeedForward, HiddenIsFourTimesTheWidthUnlessSaid) {
  Parameters all(2);
  const FeedForward layer(all, {.width = 6});
  EXPECT_EQ(layer.up.weight->shape, (std::vector<int64_t>{24, 6}));
  EXPECT_EQ(layer.down.weight->shape, (std::vector<int64_t>{6, 24}));
  EXPECT_THROW(FeedForward(all, {.width = 0}), Error);
  EXPECT_THROW(FeedForward(all, {.width = 3, .hidden = -1}), Error);
}

TEST(FeedForward, DropoutOnlyWhileTraining) {
  Parameters all(2);
  const FeedForward layer(all, {.width = 8, .hidden = 16, .dropout = 0.5f});
  const std::vector<float> x = to_float(random(4, 8));
  const auto run = [&](bool training, uint64_t seed) {
    Tape tape({.training = training, .seed = seed});
    const Tensor y = layer(tape.input(x.data(), 4, 8));
    return std::vector<float>(y.data(), y.data() + y.size());
  };
  EXPECT_EQ(run(false, 1), run(false, 2));
  EXPECT_EQ(run(true, 1), run(true, 1));
  EXPECT_NE(run(true, 1), run(true, 2));
  EXPECT_NE(run(true, 1), run(false, 1));
}

}  // namespace
}  // namespace heed::test
