#include "heed/layer/linear.h"

#include <gtest/gtest.h>

#include "tests/layer/check_layer.h"

namespace heed::test {
namespace {

TEST(Linear, ValuesAndGradients) {
  for (const bool bias : {true, false}) {
    Parameters all(1);
    const Linear layer(Scope(all) / "out", 7, 5, bias);
    EXPECT_EQ(names(all),
              bias ? (std::vector<std::string>{"out.weight", "out.bias"}) : (std::vector<std::string>{"out.weight"}));
    scatter(all);
    check_layer({&all,
                 {random(3, 7)},
                 [&](Tape&, const Tensors& x) { return Tensors{layer(x[0])}; },
                 [](const Weights& w, const Matrices& x) { return Matrices{linear(x[0], w, "out.")}; }});
  }
}

TEST(Linear, StartsAsDocumented) {
  Parameters all(1);
  const Linear layer(all, 300, 100);
  EXPECT_EQ(layer.weight->shape, (std::vector<int64_t>{100, 300}));
  EXPECT_EQ(layer.bias->value, std::vector<float>(100, 0.0f));
  const auto largest = *std::max_element(layer.weight->value.begin(), layer.weight->value.end());
  EXPECT_NEAR(largest, std::sqrt(6.0 / 400.0), 1e-4);
}

TEST(Linear, AnEmptyBatch) {
  Parameters all(1);
  const Linear layer(all, 4, 3);
  Tape tape;
  const Tensor y = layer(tape.input(nullptr, 0, 4));
  EXPECT_EQ(y.rows(), 0);
  EXPECT_EQ(y.cols(), 3);
}

}  // namespace
}  // namespace heed::test
