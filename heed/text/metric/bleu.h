// BLEU (Papineni, Roukos, Ward and Zhu 2002), with the conventions and the tokenisations of sacreBLEU (Post 2018).
//
//   BLEU = 100 * brevity * (p_1 p_2 p_3 p_4)^(1/4)
//   p_n: the share of the hypotheses' n-grams that a reference has too, each counted at most as often as in that
//   reference of the segment that has it most often
//   brevity = min(1, e^(1 - r/h)) with h tokens of the hypotheses and r of the references, in each segment the one
//   whose length is nearest (the shorter one in a tie)
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/text/metric/metric.h"
#include "heed/text/metric/tokenise.h"

namespace heed::metric {

/// What replaces a p_n of 0, which would make the product 0 (Chen and Cherry 2014).
enum class Smoothing {
  none,
  exp,    // 1/2, 1/4, 1/8 ... of a match for the first, second, third ... such n
  floor,  // smoothing_value of a match
  add,    // smoothing_value more n-grams and matches, for every n > 1
};

struct BleuOptions {
  Tokenisation tokenise = Tokenisation::v13a;
  bool lowercase = false;
  Smoothing smoothing = Smoothing::exp;
  double smoothing_value = -1;   // of floor and add; below 0: 0.1 and 1, as in sacreBLEU
  size_t order = 4;              // the longest n-grams
  bool effective_order = false;  // leave out the n that no hypothesis is long enough for; always so for one segment
};

/// Threads: many may use it at once.
class Bleu : public TextMetric {
 public:
  explicit Bleu(const BleuOptions& options = {});

  using TextMetric::score;
  using TextMetric::segment_score;

  /// Tokens of the hypothesis, tokens of the nearest reference, matches of order 1 ... n, n-grams of order 1 ... n.
  size_t width() const override { return 2 + 2 * options_.order; }
  Score score(std::span<const double> total) const override;
  Score segment_score(std::span<const double> statistics) const override;
  std::string settings() const override;

 protected:
  std::vector<double> of_segment(const std::string& hypothesis, const Texts& references) const override;

 private:
  Score computed(std::span<const double> total, bool effective_order) const;

  BleuOptions options_;
};

}  // namespace heed::metric
