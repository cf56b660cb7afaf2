// REINFORCE: on average over the draws, its gradient is that of the expected loss.
#include "heed/attend/reinforce.h"

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "heed/attend/all.h"
#include "heed/tensor/ops.h"
#include "heed/tensor/tape.h"

namespace heed::attend::test {
namespace {

constexpr int kKeys = 3, kHeads = 2, kSamples = 2;
constexpr std::array<float, kHeads* kKeys> kScores = {0.3f, -0.4f, 0.9f, -0.2f, 0.5f, 0.1f};  // [H, keys]
constexpr std::array<float, kKeys* kHeads> kValues = {1.0f, -2.0f, 0.5f, 3.0f, -1.5f, 0.7f};  // [keys, H]

/// Of a context [H]; no linear function of it, so that an average of samples is not the average of their losses.
double loss_of(double a, double b) { return (a - 0.4) * (a - 0.4) + 0.7 * (b + 0.2) * (b + 0.2) + 0.5 * a * b; }

/// E[loss], over all choices of all heads and samples.
double expected_loss(const std::array<double, kHeads * kKeys>& scores) {
  double p[kHeads][kKeys];
  for (int h = 0; h < kHeads; ++h) {
    double sum = 0.0;
    for (int j = 0; j < kKeys; ++j) sum += p[h][j] = std::exp(scores[h * kKeys + j]);
    for (int j = 0; j < kKeys; ++j) p[h][j] /= sum;
  }
  double total = 0.0;
  for (int a = 0; a < kKeys; ++a)
    for (int b = 0; b < kKeys; ++b)
      for (int c = 0; c < kKeys; ++c)
        for (int d = 0; d < kKeys; ++d)
          total += p[0][a] * p[0][b] * p[1][c] * p[1][d] *
                   loss_of((kValues[a * kHeads] + kValues[b * kHeads]) / 2.0,
                           (kValues[c * kHeads + 1] + kValues[d * kHeads + 1]) / 2.0);
  return total;
}

TEST(Reinforce, TheGradientIsThatOfTheExpectedLoss) {
  Options o = options_of("hard_sampled", {.key_width = 2, .value_width = kHeads, .heads = kHeads});
  o.score = "dot";
  o.samples = kSamples;
  Parameters parameters;
  const auto attention = make(parameters, o);
  const std::vector<float> zeros(kKeys * 2, 0.0f);
  Reinforce reinforce;
  constexpr int kDraws = 4000;
  std::array<double, kHeads * kKeys> sum{}, squares{};
  Tape tape({.seed = 1});
  for (int draw = 0; draw < kDraws; ++draw) {
    tape.reset(static_cast<uint64_t>(draw) + 1);
    const Tensor scores = tape.input(kScores.data(), kHeads, kKeys, /*needs_gradient=*/true);
    Queries queries{{tape.input(zeros.data(), 1, 2), tape.even_offsets(1, 1)}};
    queries.bias = scores;
    queries.bias_per_head = true;
    Memory memory{{tape.input(zeros.data(), kKeys, 2), tape.even_offsets(1, kKeys)}};
    memory.values = tape.input(kValues.data(), kKeys, kHeads);
    const Attended a = attention->attend(queries, attention->prepare(memory));
    ASSERT_EQ(a.log_prob.rows(), kSamples * kHeads);
    const float reward = -static_cast<float>(loss_of(a.context.data()[0], a.context.data()[1]));
    tape.backward(reinforce.loss(a.log_prob, {&reward, 1}));
    for (int n = 0; n < kHeads * kKeys; ++n) {
      const double g = scores.gradient()[n];
      sum[n] += g, squares[n] += g * g;
    }
  }
  for (int n = 0; n < kHeads * kKeys; ++n) {
    std::array<double, kHeads * kKeys> moved{};
    std::copy(kScores.begin(), kScores.end(), moved.begin());
    moved[n] += 1e-5;
    const double up = expected_loss(moved);
    moved[n] -= 2e-5;
    const double slope = (up - expected_loss(moved)) / 2e-5;
    const double mean = sum[n] / kDraws, deviation = std::sqrt((squares[n] / kDraws - mean * mean) / kDraws);
    EXPECT_NEAR(mean, slope, 4.0 * deviation) << "score " << n;
    EXPECT_GT(std::abs(slope), 6.0 * deviation) << "score " << n << ": half of it would pass as well";
  }
}

TEST(Reinforce, TheBaselineMovesAndTheEntropyCounts) {
  Reinforce reinforce({.baseline_decay = 0.75f, .entropy_weight = 0.5f});
  Tape tape;
  const std::vector<float> log_prob = {-1.0f, -2.0f, -3.0f, -4.0f}, entropy = {0.5f, 1.5f};
  const auto loss = [&](std::vector<float> rewards) {
    return reinforce.loss(tape.input(log_prob.data(), 2, 2, true), rewards, tape.input(entropy.data(), 1, 2, true))
        .item();
  };
  // The first rewards set the baseline, 2: -(-1 (-1 - 3) + 1 (-2 - 4)) / 2 - 0.5 (0.5 + 1.5) / 2
  EXPECT_FLOAT_EQ(loss({1.0f, 3.0f}), 1.0f - 0.5f);
  EXPECT_FLOAT_EQ(reinforce.baseline(), 2.0f);
  loss({6.0f, 6.0f});
  EXPECT_FLOAT_EQ(reinforce.baseline(), 3.0f);
  loss({NAN, 6.0f});
  EXPECT_FLOAT_EQ(reinforce.baseline(), 3.0f) << "an update that went wrong";
}

}  // namespace
}  // namespace heed::attend::test
