#include "heed/tensor/op/dropout.h"

#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

/// What dropout(ones, p) gives on a tape with this seed.
std::vector<float> mask(uint64_t seed, float p, int64_t rows, int64_t cols) {
  Tape tape({.seed = seed});
  const Tensor y = dropout(tape.filled(rows, cols, 1.0f), p);
  return copy_of(y.data(), y.size());
}

TEST(Dropout, ForwardAndBackwardDrawTheSame) {
  for (const auto& [n, d] : {std::pair<int64_t, int64_t>{0, 7}, {1, 1}, {7, 63}, {65, 5}})
    for (const float p : {0.1f, 0.5f, 0.9f}) {
      const std::vector<float> kept = mask(5, p, n, d);
      check_gradients(
          {random(n, d)}, [&](Tape&, const Tensors& in) -> Tensors { return {dropout(in[0], p)}; },
          [&](const Matrices& in) -> Matrices {
            Matrix y = in[0];
            for (size_t i = 0; i < y.values.size(); ++i) y.values[i] *= kept[i];
            return {y};
          },
          {.tape = {.seed = 5}});
    }
}

TEST(Dropout, EachElementWithProbabilityP) {
  for (const float p : {0.1f, 0.5f, 0.9f}) {
    const int64_t rows = 1000, cols = 1000;
    const std::vector<float> kept = mask(7, p, rows, cols);
    int64_t zeros = 0, together = 0, below = 0;
    for (size_t i = 0; i < kept.size(); ++i) {
      ASSERT_TRUE(kept[i] == 0.0f || kept[i] == 1.0f / (1.0f - p));
      zeros += kept[i] == 0.0f;
      together += i > 0 && kept[i] == 0.0f && kept[i - 1] == 0.0f;
      below += i >= static_cast<size_t>(cols) && kept[i] == 0.0f && kept[i - cols] == 0.0f;
    }
    // within five standard deviations of a million coins; neighbours in a row and in a column know nothing of each
    // other
    const double n = 1e6;
    EXPECT_NEAR(zeros / n, p, 5 * std::sqrt(p * (1 - p) / n));
    EXPECT_NEAR(together / n, p * p, 5 * std::sqrt(p * p / n));
    EXPECT_NEAR(below / n, p * p, 0.001 + 5 * std::sqrt(p * p / n));
  }
}

TEST(Dropout, SeedsDecide) {
  const std::vector<float> a = mask(1, 0.5f, 10, 100);
  EXPECT_EQ(a, mask(1, 0.5f, 10, 100));
  EXPECT_NE(a, mask(2, 0.5f, 10, 100));
  Tape tape({.seed = 1});  // two calls on one tape draw differently
  const Tensor ones = tape.filled(10, 100, 1.0f);
  EXPECT_EQ(copy_of(dropout(ones, 0.5f).data(), 1000), a);
  EXPECT_NE(copy_of(dropout(ones, 0.5f).data(), 1000), a);
  tape.reset(1);
  EXPECT_EQ(copy_of(dropout(tape.filled(10, 100, 1.0f), 0.5f).data(), 1000), a);
}

TEST(Dropout, TheSameOnEveryInstructionSet) {
  const std::vector<float> here = mask(3, 0.3f, 37, 41);
  on_every_isa([&] { EXPECT_EQ(mask(3, 0.3f, 37, 41), here); });
}

TEST(Dropout, NothingHappensWhereNothingIsTrained) {
  Tape evaluating({.training = false});
  const Tensor x = evaluating.filled(2, 3, 1.0f);
  EXPECT_EQ(dropout(x, 0.5f).data(), x.data());
  Tape tape;
  const Tensor y = tape.filled(2, 3, 1.0f);
  EXPECT_EQ(dropout(y, 0.0f).data(), y.data());
}

TEST(Dropout, AnyNumberOfThreads) {
  check_threads({random(301, 337)}, [](Tape&, const Tensors& in) -> Tensors { return {dropout(in[0], 0.3f)}; });
}

TEST(Dropout, Errors) {
  Tape tape;
  const Tensor x = tape.filled(2, 3, 1.0f);
  expect_error([&] { dropout(x, 1.0f); }, "dropout: the probability 1 is not in [0, 1)");
  expect_error([&] { dropout(x, -0.5f); }, "dropout: the probability -0.5 is not in [0, 1)");
}

}  // namespace
}  // namespace heed::test
