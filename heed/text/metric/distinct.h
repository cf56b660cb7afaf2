// How varied outputs are: distinct-n, the share of n-grams of words that are different ones (Li et al. 2016).
//
//   100 * different n-grams of all outputs / all of them          References say nothing here.
//
// A segment is credited with 1 / count for each of its n-grams, where count is how often all outputs have it: so the
// sum over all segments is the number of different ones, and the statistics add up as those of other metrics do.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "heed/text/metric/metric.h"

namespace heed::metric {

/// Threads: many may use it at once.
class Distinct : public TextMetric {
 public:
  /// `outputs`: all that are judged together; none: each is judged by itself.
  Distinct(size_t n, std::span<const std::string> outputs);

  using TextMetric::score;

  /// Different, all.
  size_t width() const override { return 2; }
  Score score(std::span<const double> total) const override;

 protected:
  std::vector<double> of_segment(const std::string& hypothesis, const Texts& references) const override;

 private:
  std::vector<std::string> ngrams(const std::string& text) const;

  size_t n_;
  std::unordered_map<std::string, int64_t> counts_;
};

}  // namespace heed::metric
