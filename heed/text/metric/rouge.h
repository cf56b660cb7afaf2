// ROUGE, for summaries: what a summary shares with a reference (Lin 2004), as rouge-score from PyPI computes it,
// without its stemmer.
//
//   rouge-1, rouge-2   n-grams of words          P = shared / those of the output,  R = shared / those of the reference
//   rouge-l            the longest common subsequence of words        F = 2 P R / (P + R)
//
// Words are runs of a-z and 0-9 of the text in lower case; all else separates them. The score is the mean of the F of
// the segments; of several references, the one with the highest F counts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/text/metric/metric.h"

namespace heed::metric {

enum class RougeKind { one, two, longest };

/// Threads: many may use it at once.
class Rouge : public TextMetric {
 public:
  explicit Rouge(RougeKind kind) : kind_(kind) {}

  using TextMetric::score;

  /// F, P, R, 1.
  size_t width() const override { return 4; }
  Score score(std::span<const double> total) const override;
  std::string settings() const override { return "case:lc|stem:no|tok:ascii"; }

 protected:
  std::vector<double> of_segment(const std::string& hypothesis, const Texts& references) const override;

 private:
  RougeKind kind_;
};

}  // namespace heed::metric
