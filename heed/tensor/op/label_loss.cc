// loss = scale sum_rc softplus(x_rc) - y_rc x_rc,   d x_rc = scale (sigmoid(x_rc) - y_rc)
//
// In double and without vector code: there are few numbers here, one per text and label.
#include "heed/tensor/op/label_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/kernels/exact_math.h"
#include "heed/tensor/gradient.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/tape.h"

namespace heed {

namespace {

/// log(1 + e^x), without overflow.
double softplus(double x) { return std::max(x, 0.0) + exact::log(1.0 + exact::exp(-std::abs(x))); }

void check_label_sets(Tensor logits, const LabelSets& right) {
  expect_there("label_loss", "logits", logits);
  expect(std::ssize(right.at) == logits.rows() + 1 && right.at.front() == 0 && right.at.back() == std::ssize(right.ids),
         "label_loss: the sets of {} rows, but logits of {}", std::ssize(right.at) - 1, logits.rows());
  for (const int32_t id : right.ids)
    expect(id >= -1 && id < logits.cols(), "label_loss: class {} of {} classes", id, logits.cols());
}

}  // namespace

double log_sigmoid(double x) { return -softplus(-x); }

double log_of_rest(double log_p) {
  return exact::log(std::max(1.0 - exact::exp(log_p), std::numeric_limits<double>::epsilon()));
}

OutputLoss label_loss(Tensor logits, const LabelSets& right, const OutputLossOptions& options) {
  check_label_sets(logits, right);
  Tape& tape = logits.tape();
  const int64_t rows = logits.rows(), classes = logits.cols();
  const float smoothing = options.label_smoothing, scale = options.scale;
  // In memory of the tape: the sets of the caller may be gone.
  bool* yes = tape.keep<bool>(logits.size());
  std::fill_n(yes, logits.size(), false);
  float* row_nll = tape.keep<float>(rows);
  OutputLoss result;
  result.loss = tape.make_from(1, 1, logits);
  result.rows = rows;
  result.row_nll = {row_nll, static_cast<size_t>(rows)};
  double loss = 0;
  for (int64_t r = 0; r < rows; ++r) {
    bool correct = true;
    for (int64_t i = right.at[static_cast<size_t>(r)]; i < right.at[static_cast<size_t>(r) + 1]; ++i) {
      const int32_t id = right.ids[static_cast<size_t>(i)];
      correct = correct && id >= 0;
      if (id >= 0) yes[r * classes + id] = true;
    }
    double nll = 0;
    for (int64_t c = 0; c < classes; ++c) {
      const double x = logits.row(r)[c];
      const bool is = yes[r * classes + c];
      const double y = is ? 1.0 - 0.5 * smoothing : 0.5 * smoothing;
      loss += softplus(x) - y * x;
      nll += softplus(is ? -x : x);
      correct = correct && (x > 0) == is;
    }
    row_nll[r] = static_cast<float>(nll);
    result.negative_log_likelihood += nll;
    result.correct += correct ? 1 : 0;
  }
  *result.loss.data() = static_cast<float>(scale * loss);

  tape.on_backward([=, out = result.loss] {
    const double factor = double{*out.gradient()} * scale;
    const float* x = logits.data();
    add_gradient(logits.sink(), logits.size(), [=](int64_t i) {
      const double y = yes[i] ? 1.0 - 0.5 * smoothing : 0.5 * smoothing;
      return static_cast<float>(factor * (1.0 / (1.0 + exact::exp(-double{x[i]})) - y));
    });
  });
  return result;
}

}  // namespace heed
