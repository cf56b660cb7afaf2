// The loss of a model that copies, its probabilities in a search, and the cost of coverage: against plain formulas in
// double, and every gradient against finite differences.
#include "heed/tensor/op/output_loss.h"

#include <cmath>
#include <vector>

#include "heed/tensor/op/copy_distribution.h"
#include "heed/tensor/op/coverage.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

double copy_logit(const Matrices& in, int64_t r, int64_t c) {
  double sum = in[2](0, c);
  for (int64_t d = 0; d < in[0].cols; ++d) sum += in[0](r, d) * in[1](c, d);
  return sum;
}

double copy_log_sum(const Matrices& in, int64_t r) {
  double sum = 0.0;
  for (int64_t c = 0; c < in[1].rows; ++c) sum += std::exp(copy_logit(in, r, c));
  return std::log(sum);
}

/// - (1 - s) log(g P(t) + (1 - g) m) - s mean log P
double copy_row_loss(const Matrices& in, int64_t r, int32_t target, double smoothing, int64_t head) {
  const int64_t classes = in[1].rows;
  const double g = 1.0 / (1.0 + std::exp(-in[3](r, 0)));
  double mass = 0.0;
  for (int64_t h = 0; h < in[4].rows; ++h) mass += in[4](h, r) / static_cast<double>(in[4].rows);
  if (head >= 0) mass = in[4](head, r);
  const double written = target < classes ? std::exp(copy_logit(in, r, target) - copy_log_sum(in, r)) : 0.0;
  double loss = -(1.0 - smoothing) * std::log(g * written + (1.0 - g) * mass);
  for (int64_t c = 0; c < classes; ++c)
    loss -= smoothing / static_cast<double>(classes) * (copy_logit(in, r, c) - copy_log_sum(in, r));
  return loss;
}

Matrix some_mass(int64_t heads, int64_t rows) {
  Matrix m(heads, rows);
  for (int64_t i = 0; i < heads * rows; ++i) m.values[static_cast<size_t>(i)] = 0.05 + 0.9 * ((i * 7 + 3) % 10) / 10.0;
  return m;
}

TEST(CopyLoss, ValuesAndGradients) {
  const std::vector<int32_t> targets = {0, 2, 5, -1, 7, 4, 1};  // 5 and 7 are in the source only
  const std::vector<float> weights = {1.0f, 0.5f, 2.0f, 1.0f, 1.0f, 3.0f, 0.0f};
  for (const float smoothing : {0.0f, 0.1f})
    for (const int64_t head : {-1, 0, 1}) {
      const OutputLossOptions options{.label_smoothing = smoothing, .scale = 0.25f, .row_weights = weights};
      check_gradients(
          {random(7, 4), random(5, 4), random(1, 5), random(7, 1), some_mass(2, 7)},
          [&](Tape&, const Tensors& in) -> Tensors {
            return {
                output_loss(in[0], in[1], in[2], targets, options, {.gate = in[3], .mass = in[4], .head = head}).loss};
          },
          [&](const Matrices& in) -> Matrices {
            Matrix loss(1, 1);
            for (int64_t r = 0; r < 7; ++r)
              if (targets[static_cast<size_t>(r)] >= 0)
                loss(0, 0) += 0.25 * double{weights[static_cast<size_t>(r)]} *
                              copy_row_loss(in, r, targets[static_cast<size_t>(r)], double{smoothing}, head);
            return {loss};
          });
    }
}

TEST(CopyLoss, MoreRowsThanABlock) {
  std::vector<int32_t> targets;
  for (int i = 0; i < 300; ++i) targets.push_back(i % 4);
  check_gradients(
      {random(300, 2), random(3, 2), random(1, 3), random(300, 1), some_mass(1, 300)},
      [&](Tape&, const Tensors& in) -> Tensors {
        return {output_loss(in[0], in[1], in[2], targets, {.scale = 0.01f}, {.gate = in[3], .mass = in[4]}).loss};
      },
      [&](const Matrices& in) -> Matrices {
        Matrix loss(1, 1);
        for (int64_t r = 0; r < 300; ++r)
          loss(0, 0) += 0.01 * copy_row_loss(in, r, targets[static_cast<size_t>(r)], 0, -1);
        return {loss};
      });
}

/// A word that has no weight anywhere costs much, not infinity, and moves nothing to a number that is none.
TEST(CopyLoss, NothingToCopy) {
  Tape tape;
  const std::vector<float> x = {1.0f, 2.0f}, w = {0.5f, -0.5f, 1.0f, 0.25f}, gate = {0.5f}, none = {0.0f};
  const std::vector<int32_t> targets = {9};
  const OutputLoss loss = output_loss(tape.input(x.data(), 1, 2), tape.input(w.data(), 2, 2), {}, targets, {},
                                      {.gate = tape.input(gate.data(), 1, 1), .mass = tape.input(none.data(), 1, 1)});
  EXPECT_EQ(loss.negative_log_likelihood, 30.0);
}

/// The distribution of a search adds up to 1, and gives each word what the loss says.
TEST(CopyDistribution, AgreesWithTheLoss) {
  const int64_t vocabulary = 70;
  Tape tape({.recording = false, .training = false});
  std::vector<float> x, w, gate = {0.3f, -2.0f};
  for (int i = 0; i < 2 * 3; ++i) x.push_back(static_cast<float>(std::sin(i + 1.0)));
  for (int i = 0; i < 70 * 3; ++i) w.push_back(static_cast<float>(std::cos(3.0 * i)));
  const Tensor states = tape.input(x.data(), 2, 3), weight = tape.input(w.data(), vocabulary, 3);
  std::vector<float> logits;
  for (int r = 0; r < 2; ++r)
    for (int v = 0; v < 70; ++v) {
      float sum = 0.0f;
      for (int d = 0; d < 3; ++d) sum += x[static_cast<size_t>(3 * r + d)] * w[static_cast<size_t>(3 * v + d)];
      logits.push_back(sum);
    }
  const std::vector<std::vector<int32_t>> copies = {{5, 70, 5, -1, 71}, {71, 3}};
  const std::vector<std::vector<float>> weights = {{0.1f, 0.2f, 0.3f, 0.25f, 0.15f}, {0.75f, 0.25f}};
  const int64_t columns = copy_columns(vocabulary, 2);
  EXPECT_EQ(columns, 128);
  const Tensor gates = tape.input(gate.data(), 2, 1);
  const Tensor log_p = copy_distribution(tape.input(logits.data(), 2, vocabulary), gates, columns, [&](int64_t r) {
    return CopyWeights{copies[static_cast<size_t>(r)], weights[static_cast<size_t>(r)]};
  });
  for (int64_t r = 0; r < 2; ++r) {
    double sum = 0.0;
    for (int64_t v = 0; v < columns; ++v) sum += std::exp(double{log_p.row(r)[v]});
    const double lost = r == 0 ? 0.25 / (1.0 + std::exp(0.3)) : 0.0;  // weight on what no target can have
    EXPECT_NEAR(sum, 1.0 - lost, 1e-6);
    EXPECT_EQ(log_p.row(r)[100], -std::numeric_limits<float>::infinity());
    for (const int32_t token : {0, 3, 5, 70, 71}) {
      std::vector<float> mass = {0.0f, 0.0f};
      const auto at = static_cast<size_t>(r);
      for (size_t i = 0; i < copies[at].size(); ++i)
        if (copies[at][i] == token) mass[at] += weights[at][i];
      if (mass[at] == 0.0f && token >= 70) {
        EXPECT_EQ(log_p.row(r)[token], -std::numeric_limits<float>::infinity());
        continue;
      }
      const std::vector<int32_t> targets = {token, token};
      const OutputLoss loss =
          output_loss(states, weight, {}, targets, {}, {.gate = gates, .mass = tape.input(mass.data(), 1, 2)});
      EXPECT_NEAR(log_p.row(r)[token], -loss.row_nll[at], 2e-6) << "row " << r << ", token " << token;
    }
  }
}

TEST(Coverage, ValuesAndGradients) {
  // Two heads, targets of 4 and 2 rows, 3 keys; no two numbers so near that a step of the check swaps them.
  Matrix weights(12, 3);
  for (int64_t i = 0; i < 36; ++i) weights.values[static_cast<size_t>(i)] = 0.1 + ((i * 11 + 5) % 36) / 20.0;
  static const int64_t offsets[] = {0, 4, 6};
  for (const int64_t head : {-1, 1})
    check_gradients(
        {weights},
        [&](Tape&, const Tensors& in) -> Tensors {
          return {coverage_cost(in[0], Offsets{offsets, 2}, head)};
        },
        [&](const Matrices& in) -> Matrices {
          Matrix cost(1, 1);
          for (int b = 0; b < 2; ++b)
            for (int64_t j = 0; j < 3; ++j) {
              double seen = 0.0;
              for (int64_t r = offsets[b]; r < offsets[b + 1]; ++r) {
                const double a = head < 0 ? 0.5 * (in[0](r, j) + in[0](6 + r, j)) : in[0](6 * head + r, j);
                cost(0, 0) += std::min(a, seen);
                seen += a;
              }
            }
          return {cost};
        });
}

TEST(Coverage, WeightOnColumns) {
  static const int64_t offsets[] = {0, 2, 2, 5};
  static const int32_t columns[] = {0, 3, 1, 1, 2};
  check_gradients(
      {random(6, 4)},
      [&](Tape&, const Tensors& in) -> Tensors { return {weight_on_columns(in[0], 3, offsets, columns)}; },
      [&](const Matrices& in) -> Matrices {
        Matrix on(2, 3);
        for (int64_t h = 0; h < 2; ++h)
          for (int64_t r = 0; r < 3; ++r)
            for (int64_t n = offsets[r]; n < offsets[r + 1]; ++n) on(h, r) += in[0](3 * h + r, columns[n]);
        return {on};
      });
}

}  // namespace
}  // namespace heed::test
