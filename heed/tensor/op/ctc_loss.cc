// alpha_t(s) = log p of the rows up to t that end in state s, of the states blank, y_1, blank, y_2, ..., y_L, blank;
// beta_t(s) = log p of the rows after t from there.
// d logit_tk = softmax_tk - sum over the states s of class k of e^(alpha_t(s) + beta_t(s) - log p(target))
#include "heed/tensor/op/ctc_loss.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "heed/kernels/exact_math.h"
#include "heed/tensor/gradient.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/tape.h"

namespace heed {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double log_sum(double a, double b) {
  const double high = std::max(a, b), low = std::min(a, b);
  return low == kNever ? high : high + exact::log(1.0 + exact::exp(low - high));
}

/// One sequence.
class Paths {
 public:
  Paths(const float* logits, int64_t rows, int64_t classes, std::span<const int32_t> target, int32_t blank)
      : rows_(rows), classes_(classes), states_(2 * std::ssize(target) + 1) {
    for (const int32_t id : target) {
      state_.push_back(blank);
      state_.push_back(id);
    }
    state_.push_back(blank);
    log_p_.resize(static_cast<size_t>(rows * classes));
    for (int64_t t = 0; t < rows; ++t) {
      const float* row = logits + t * classes;
      const double most = *std::max_element(row, row + classes);
      double sum = 0;
      for (int64_t k = 0; k < classes; ++k) sum += exact::exp(row[k] - most);
      const double log_all = most + exact::log(sum);
      for (int64_t k = 0; k < classes; ++k) log_p_[static_cast<size_t>(t * classes + k)] = row[k] - log_all;
    }
  }

  /// The rows that are needed: repeats have a blank between them.
  static int64_t least_rows(std::span<const int32_t> target) {
    int64_t rows = std::ssize(target);
    for (size_t i = 1; i < target.size(); ++i) rows += target[i] == target[i - 1] ? 1 : 0;
    return rows;
  }

  /// - log p(target); d logits [rows, classes] to `gradient`.
  double cost(float* gradient) {
    std::vector<double> alpha(static_cast<size_t>(rows_ * states_), kNever);
    alpha[0] = emits(0, 0);
    if (states_ > 1) alpha[1] = emits(0, 1);
    for (int64_t t = 1; t < rows_; ++t) {
      const double* before = alpha.data() + (t - 1) * states_;
      for (int64_t s = 0; s < states_; ++s) {
        double sum = before[s];
        if (s >= 1) sum = log_sum(sum, before[s - 1]);
        if (skips_to(s)) sum = log_sum(sum, before[s - 2]);
        alpha[static_cast<size_t>(t * states_ + s)] = sum + emits(t, s);
      }
    }
    const double* last = alpha.data() + (rows_ - 1) * states_;
    const double log_p = states_ > 1 ? log_sum(last[states_ - 1], last[states_ - 2]) : last[0];
    // beta of one row at a time, from the last.
    std::vector<double> beta(static_cast<size_t>(states_), kNever), next(beta);
    beta.back() = 0;
    if (states_ > 1) beta[static_cast<size_t>(states_ - 2)] = 0;
    std::vector<double> share(static_cast<size_t>(classes_));
    for (int64_t t = rows_ - 1; t >= 0; --t) {
      std::fill(share.begin(), share.end(), 0.0);
      for (int64_t s = 0; s < states_; ++s) {
        const double path = alpha[static_cast<size_t>(t * states_ + s)] + beta[static_cast<size_t>(s)];
        if (path != kNever) share[static_cast<size_t>(class_of(s))] += exact::exp(path - log_p);
      }
      for (int64_t k = 0; k < classes_; ++k)
        gradient[t * classes_ + k] = static_cast<float>(exact::exp(log_p_[static_cast<size_t>(t * classes_ + k)]) -
                                                        share[static_cast<size_t>(k)]);
      if (t == 0) break;
      for (int64_t s = 0; s < states_; ++s) {
        const auto through = [&](int64_t to) { return beta[static_cast<size_t>(to)] + emits(t, to); };
        double sum = through(s);
        if (s + 1 < states_) sum = log_sum(sum, through(s + 1));
        if (s + 2 < states_ && skips_to(s + 2)) sum = log_sum(sum, through(s + 2));
        next[static_cast<size_t>(s)] = sum;
      }
      beta.swap(next);
    }
    return -log_p;
  }

 private:
  int32_t class_of(int64_t s) const { return state_[static_cast<size_t>(s)]; }
  double emits(int64_t t, int64_t s) const { return log_p_[static_cast<size_t>(t * classes_ + class_of(s))]; }
  /// From the token before, without the blank between.
  bool skips_to(int64_t s) const { return s >= 2 && s % 2 == 1 && class_of(s) != class_of(s - 2); }

  int64_t rows_, classes_, states_;
  std::vector<int32_t> state_;  // the class of each
  std::vector<double> log_p_;   // [rows, classes]
};

}  // namespace

CtcLoss ctc_loss(Tensor logits, const Offsets& offsets, const CtcTargets& targets, float scale) {
  expect_there("ctc_loss", "logits", logits);
  const int64_t classes = logits.cols(), count = offsets.count;
  expect(offsets.total() == logits.rows() && std::ssize(targets.at) == count + 1 &&
             targets.at[static_cast<size_t>(count)] == std::ssize(targets.ids),
         "ctc_loss: {} logits and {} tokens of {} sequences, but offsets of {} rows in {}", logits.rows(),
         targets.ids.size(), std::ssize(targets.at) - 1, offsets.total(), count);
  expect(targets.blank >= 0 && targets.blank < classes, "ctc_loss: the blank is class {} of {}", targets.blank,
         classes);
  for (const int32_t id : targets.ids)
    expect(id >= 0 && id < classes && id != targets.blank, "ctc_loss: token {} of {} classes, where {} is the blank",
           id, classes, targets.blank);

  Tape& tape = logits.tape();
  CtcLoss result;
  result.loss = tape.make_from(1, 1, logits);
  float* gradient = tape.keep<float>(logits.size());
  std::fill_n(gradient, logits.size(), 0.0f);
  const auto target = [&](int64_t b) {
    const int64_t from = targets.at[static_cast<size_t>(b)], to = targets.at[static_cast<size_t>(b) + 1];
    return targets.ids.subspan(static_cast<size_t>(from), static_cast<size_t>(to - from));
  };
  const auto possible = [&](int64_t b) {
    return offsets.length(b) > 0 && offsets.length(b) >= Paths::least_rows(target(b));
  };
  for (int64_t b = 0; b < count; ++b) {
    if (!possible(b)) {
      ++result.impossible;
      continue;
    }
    result.negative_log_likelihood +=
        Paths(logits.row(offsets.at[b]), offsets.length(b), classes, target(b), targets.blank)
            .cost(gradient + offsets.at[b] * classes);
  }
  *result.loss.data() = static_cast<float>(scale * result.negative_log_likelihood);
  tape.on_backward([=, out = result.loss] {
    const float factor = *out.gradient() * scale;
    add_gradient(logits.sink(), logits.size(), [=](int64_t i) { return factor * gradient[i]; });
  });
  return result;
}

}  // namespace heed
