#include "heed/text/metric/exact.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/text/metric/check.h"
#include "heed/text/words.h"

namespace heed::metric {

namespace {

bool is_right(const std::string& hypothesis, const Texts& references) {
  return std::find(references.begin(), references.end(), hypothesis) != references.end();
}

}  // namespace

double Accuracy::rate() const { return count == 0 ? 0.0 : static_cast<double>(right) / static_cast<double>(count); }

Accuracy exact_match(std::span<const std::string> hypotheses, std::span<const Texts> references) {
  expect_references(hypotheses, references);
  Accuracy accuracy;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    ++accuracy.count;
    accuracy.right += is_right(hypotheses[i], references[i]);
  }
  return accuracy;
}

std::vector<double> Exact::of_segment(const std::string& hypothesis, const Texts& references) const {
  if (kind_ != ExactKind::accuracy) return {is_right(hypothesis, references) ? 1.0 : 0.0, 1.0};
  const bool right = std::any_of(references.begin(), references.end(), [&](const std::string& reference) {
    return text::without_blanks_around(reference) == text::without_blanks_around(hypothesis);
  });
  return {right ? 1.0 : 0.0, 1.0};
}

Score Exact::score(std::span<const double> total) const {
  const double right = total[0], count = total[1];
  const bool errors = kind_ == ExactKind::sequence_error;
  const double counted = errors ? count - right : right;
  return {.name = errors                      ? "SER"
                  : kind_ == ExactKind::exact ? "exact match"
                                              : "accuracy",
          .value = count > 0 ? 100 * counted / count : 0,
          .higher_is_better = !errors,
          .details = fmt::format("({:.0f} of {:.0f} {})", counted, count, errors ? "wrong" : "right"),
          .parts = {{"right", right}, {"segments", count}}};
}

}  // namespace heed::metric
