#include "heed/tensor/op/label_loss.h"

#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

// Sets of 2, 0, 1 and 4 classes.
const std::vector<int64_t> kAt = {0, 2, 2, 3, 7};
const std::vector<int32_t> kIds = {0, 3, 1, 0, 1, 2, 3};

bool is_right(int64_t row, int64_t c) {
  const auto first = kIds.begin() + kAt[static_cast<size_t>(row)],
             last = kIds.begin() + kAt[static_cast<size_t>(row) + 1];
  return std::find(first, last, c) != last;
}

double plain_label_loss(const Matrix& x, double smoothing) {
  double loss = 0;
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t c = 0; c < x.cols; ++c) {
      const double p = 1 / (1 + std::exp(-x(r, c))), y = is_right(r, c) ? 1 - smoothing / 2 : smoothing / 2;
      loss -= y * std::log(p) + (1 - y) * std::log(1 - p);
    }
  return loss;
}

TEST(LabelLoss, ValuesAndGradients) {
  for (const float smoothing : {0.0f, 0.2f})
    check_gradients(
        {random(4, 4)},
        [&](Tape&, const Tensors& in) -> Tensors {
          const std::vector<int64_t> at = kAt;  // gone before the backward
          const std::vector<int32_t> ids = kIds;
          return {label_loss(in[0], {at, ids}, {.label_smoothing = smoothing, .scale = 0.5f}).loss};
        },
        [&](const Matrices& in) -> Matrices {
          Matrix loss(1, 1);
          loss(0, 0) = 0.5 * plain_label_loss(in[0], double{smoothing});
          return {loss};
        });
}

TEST(LabelLoss, WhatIsRight) {
  const std::vector<float> x = {1,  -1, -1, 1,   // both of the row
                                -1, -1, -1, -1,  // none
                                1,  1,  -1, -1,  // one too many
                                1,  1,  1,  1};
  Tape tape;
  const Tensor logits = tape.input(x.data(), 4, 4);
  const OutputLoss loss = label_loss(logits, {kAt, kIds});
  EXPECT_EQ(loss.correct, 3);
  EXPECT_EQ(loss.rows, 4);
  EXPECT_NEAR(loss.negative_log_likelihood, 15 * std::log1p(std::exp(-1.0)) + std::log1p(std::exp(1.0)), 1e-5);
  EXPECT_NEAR(loss.row_nll[2] - loss.row_nll[1], 1.0, 1e-5);
  // A class that does not exist is never found.
  std::vector<int32_t> ids = kIds;
  ids[2] = -1;
  EXPECT_EQ(label_loss(logits, {kAt, ids}).correct, 3);
  ids[0] = -1;
  EXPECT_EQ(label_loss(logits, {kAt, ids}).correct, 2);
}

TEST(LabelLoss, LargeLogitsStayFinite) {
  const std::vector<float> x = {1e30f, -1e30f};
  const std::vector<int64_t> at = {0, 1};
  const std::vector<int32_t> ids = {0};
  Tape tape;
  EXPECT_EQ(label_loss(tape.input(x.data(), 1, 2), {at, ids}).loss.item(), 0.0f);
}

TEST(LabelLoss, LogProbabilities) {
  for (const double x : {-30.0, -1.0, 0.0, 2.0, 30.0}) {
    EXPECT_NEAR(log_sigmoid(x), -std::log1p(std::exp(-x)), 1e-12 * (1 + std::abs(x)));
    EXPECT_NEAR(log_of_rest(log_sigmoid(x)), log_sigmoid(-x), x > 20 ? 0.1 : 1e-9);
  }
  EXPECT_TRUE(std::isfinite(log_of_rest(0.0)));
}

TEST(LabelLoss, Mistakes) {
  Tape tape;
  const std::vector<float> x(8);
  const Tensor logits = tape.input(x.data(), 2, 4);
  EXPECT_THROW(label_loss(logits, {kAt, kIds}), Error);
  const std::vector<int64_t> at = {0, 0, 1};
  const std::vector<int32_t> ids = {4};
  EXPECT_THROW(label_loss(logits, {at, ids}), Error);
}

}  // namespace
}  // namespace heed::test
