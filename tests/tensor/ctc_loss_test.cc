// The loss against the sum over all ways to give each row a class, written as the definition has it.
#include "heed/tensor/op/ctc_loss.h"

#include <cmath>

#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

constexpr int32_t kBlank = 1;

struct Case {
  std::vector<int64_t> rows;
  std::vector<std::vector<int32_t>> targets;
};

/// - log of the sum over all paths: repeats joined, blanks taken away.
double cost_of(const Matrix& logits, int64_t first, int64_t rows, const std::vector<int32_t>& target) {
  double all = 0;
  std::vector<int32_t> path(static_cast<size_t>(rows), 0);
  const auto classes = static_cast<int32_t>(logits.cols);
  while (true) {
    std::vector<int32_t> said;
    double p = 1;
    for (size_t t = 0; t < path.size(); ++t) {
      if (path[t] != kBlank && (t == 0 || path[t] != path[t - 1])) said.push_back(path[t]);
      double sum = 0;
      for (int64_t k = 0; k < classes; ++k) sum += std::exp(logits(first + static_cast<int64_t>(t), k));
      p *= std::exp(logits(first + static_cast<int64_t>(t), path[t])) / sum;
    }
    if (said == target) all += p;
    size_t at = 0;
    while (at < path.size() && ++path[at] == classes) path[at++] = 0;
    if (at == path.size()) break;
  }
  return all > 0 ? -std::log(all) : 0;  // what cannot be costs nothing
}

void check(const Case& c) {
  int64_t total = 0;
  std::vector<int64_t> offsets = {0}, at = {0};
  std::vector<int32_t> ids;
  for (size_t b = 0; b < c.rows.size(); ++b) {
    offsets.push_back(total += c.rows[b]);
    ids.insert(ids.end(), c.targets[b].begin(), c.targets[b].end());
    at.push_back(std::ssize(ids));
  }
  check_gradients(
      {random(total, 4)},
      [&](Tape& tape, const Tensors& in) -> Tensors {
        return {ctc_loss(in[0], tape.offsets(offsets), {at, ids, kBlank}, 0.5f).loss};
      },
      [&](const Matrices& in) -> Matrices {
        double sum = 0;
        for (size_t b = 0; b < c.rows.size(); ++b) sum += cost_of(in[0], offsets[b], c.rows[b], c.targets[b]);
        return {Matrix(1, 1, 0.5 * sum)};
      });
}

TEST(CtcLoss, IsTheSumOverAllPaths) {
  check({{1}, {{2}}});
  check({{5}, {{2, 3}}});
  check({{6}, {{2, 2}}});  // a blank must come between
  check({{3}, {{2, 2}}});  // in one way alone
  check({{6}, {{0, 3, 0}}});
  check({{4}, {{}}});  // blanks alone
  check({{4, 1, 6}, {{3}, {0}, {2, 2, 3}}});
}

TEST(CtcLoss, WhatNeedsMoreRowsCostsNothing) {
  check({{2, 4}, {{2, 2}, {3}}});
  Tape tape;
  const std::vector<float> numbers(8, 0.25f);
  const std::vector<int64_t> offsets = {0, 2}, at = {0, 2};
  const std::vector<int32_t> ids = {2, 2};
  const CtcLoss loss = ctc_loss(tape.input(numbers.data(), 2, 4), tape.offsets(offsets), {at, ids, kBlank});
  EXPECT_EQ(loss.impossible, 1);
  EXPECT_EQ(loss.negative_log_likelihood, 0);
}

TEST(CtcLoss, RefusesWhatIsNoTarget) {
  Tape tape;
  const std::vector<float> numbers(8, 0.25f);
  const Tensor logits = tape.input(numbers.data(), 2, 4);
  const std::vector<int64_t> offsets = {0, 2}, at = {0, 1}, other = {0, 1, 1};
  for (const int32_t id : {-1, 4, int{kBlank}}) {
    const std::vector<int32_t> ids = {id};
    EXPECT_THROW(ctc_loss(logits, tape.offsets(offsets), {at, ids, kBlank}), Error);
  }
  const std::vector<int32_t> ids = {2};
  EXPECT_THROW(ctc_loss(logits, tape.offsets(offsets), {at, ids, 4}), Error);
  EXPECT_THROW(ctc_loss(logits, tape.offsets(offsets), {other, ids, kBlank}), Error);
}

}  // namespace
}  // namespace heed::test
