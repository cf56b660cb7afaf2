// TER, translation edit rate (Snover, Dorr, Schwartz, Micciulla and Makhoul 2006), with the conventions of sacreBLEU.
//
//   TER = 100 * edits / words of the references
//
// Edits: replaced, added, removed words, and shifts of runs of words. Of several references, the one with the fewest
// edits counts, but with their mean length.
#pragma once

#include <string>
#include <vector>

#include "heed/text/metric/metric.h"

namespace heed::metric {

struct TerOptions {
  bool normalise = false;       // separate punctuation from words, decode XML entities
  bool no_punctuation = false;  // remove punctuation
  bool asian = false;           // with these two: ideographs are words, and their punctuation counts as such
  bool case_sensitive = false;
};

/// Threads: many may use it at once.
class Ter : public TextMetric {
 public:
  explicit Ter(const TerOptions& options = {}) : options_(options) {}

  using TextMetric::score;

  /// Edits, mean length of the references.
  size_t width() const override { return 2; }
  Score score(std::span<const double> total) const override;
  std::string settings() const override;

 protected:
  std::vector<double> of_segment(const std::string& hypothesis, const Texts& references) const override;

 private:
  TerOptions options_;
};

}  // namespace heed::metric
