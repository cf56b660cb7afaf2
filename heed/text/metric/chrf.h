// chrF and chrF++ (Popovic 2015, 2017), with the conventions of sacreBLEU: n-grams of characters, and of words.
//
//   F = (1 + beta^2) * P * R / (beta^2 * P + R)     in percent
//   P: the share of the hypotheses' n-grams that the reference has too, mean over the orders
//   R: the share of the references' n-grams that the hypothesis has too, mean over the orders
//
// Of several references, the one with the highest F of the segment counts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/text/metric/metric.h"

namespace heed::metric {

struct ChrfOptions {
  size_t characters = 6;  // the longest n-grams of characters
  size_t words = 0;       // the longest n-grams of words: 0 chrF, 2 chrF++
  size_t beta = 2;        // how much more recall counts than precision
  bool lowercase = false;
  bool whitespace = false;     // spaces are characters too
  bool eps_smoothing = false;  // mean of the F of all orders, as in the first chrF++.py; otherwise of the P and the R
                               // of those orders that hypothesis and reference have, the default of sacreBLEU
};

/// Threads: many may use it at once.
class Chrf : public TextMetric {
 public:
  explicit Chrf(const ChrfOptions& options = {});

  using TextMetric::score;

  /// For each order, characters first: n-grams of the hypothesis, of the reference, matches.
  size_t width() const override { return 3 * (options_.characters + options_.words); }
  Score score(std::span<const double> total) const override;
  std::string settings() const override;

 protected:
  std::vector<double> of_segment(const std::string& hypothesis, const Texts& references) const override;

 private:
  ChrfOptions options_;
};

}  // namespace heed::metric
