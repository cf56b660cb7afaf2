// What all metrics have in common.
//
//   texts -> statistics of each segment -> their sum -> the score
// A segment is one hypothesis (the output of a system) with its references (right answers, at least one; their number
// may differ between segments). The statistics of a segment are a few numbers that can be added, for BLEU the matching
// n-grams and the lengths. So the score of any selection of segments only costs a sum, and resample.h needs thousands
// of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::metric {

using Texts = std::vector<std::string>;

struct Score {
  std::string name;  // as papers write it: BLEU, chrF2++
  double value = 0;  // error rates and shares in percent
  bool higher_is_better = true;
  std::string details;                                // printed after the value in line(); may be empty
  std::vector<std::pair<std::string, double>> parts;  // what the value was computed from, by name

  /// "BLEU = 41.02 71.0/47.5/34.3/24.5 (BP = 1.000 ...)"; `note` goes between the value and the details.
  std::string line(std::string_view note = {}) const;
};

/// The statistics of the segments: a row of `width` numbers for each.
/// Threads: many may read it, or one may add to it.
class Statistics {
 public:
  explicit Statistics(size_t width) : width_(width) {}

  size_t width() const { return width_; }
  size_t segments() const { return width_ == 0 ? 0 : values_.size() / width_; }
  std::span<const double> operator[](size_t segment) const {
    return std::span(values_).subspan(segment * width_, width_);
  }

  void add(std::span<const double> row);
  std::vector<double> total() const;

 private:
  size_t width_;
  std::vector<double> values_;
};

/// Threads: many may use it at once.
class Metric {
 public:
  virtual ~Metric() = default;

  virtual size_t width() const = 0;  // numbers per segment

  /// Score of the sum over any segments: [width()].
  virtual Score score(std::span<const double> total) const = 0;
  /// Score of a single segment. The same, unless a corpus formula fails on one short sentence (BLEU).
  virtual Score segment_score(std::span<const double> statistics) const { return score(statistics); }

  Score score(const Statistics& statistics) const;
};

/// A metric that compares texts.
/// Threads: many may use it at once.
class TextMetric : public Metric {
 public:
  /// The options that change the score, as in a sacreBLEU signature: "case:mixed|eff:no|tok:13a|..."; empty if there
  /// are none.
  virtual std::string settings() const { return {}; }

  /// Throws Error if a text is not valid UTF-8, a hypothesis has no reference, or the numbers of segments differ.
  Statistics statistics(std::span<const std::string> hypotheses, std::span<const Texts> references) const;
  Score score(std::span<const std::string> hypotheses, std::span<const Texts> references) const;
  using Metric::score;
  Score segment_score(const std::string& hypothesis, const Texts& references) const;
  using Metric::segment_score;

 protected:
  /// Statistics of one segment, [width()]. The texts are valid UTF-8, and there is a reference.
  virtual std::vector<double> of_segment(const std::string& hypothesis, const Texts& references) const = 0;
};

}  // namespace heed::metric
