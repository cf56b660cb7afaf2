#include "heed/text/metric/metric.h"

#include "heed/base/error.h"
#include "heed/text/metric/check.h"

namespace heed::metric {

std::string Score::line(std::string_view note) const {
  std::string text = fmt::format("{} = {:.2f}", name, value);
  if (!note.empty()) text += fmt::format(" ({})", note);
  if (!details.empty()) text += " " + details;
  return text;
}

void Statistics::add(std::span<const double> row) {
  expect(row.size() == width_, "statistics of a segment: got {} numbers, expected {}", row.size(), width_);
  values_.insert(values_.end(), row.begin(), row.end());
}

std::vector<double> Statistics::total() const {
  std::vector<double> sum(width_);
  for (size_t segment = 0; segment < segments(); ++segment)
    for (size_t i = 0; i < width_; ++i) sum[i] += (*this)[segment][i];
  return sum;
}

Score Metric::score(const Statistics& statistics) const {
  expect(statistics.width() == width(),
         "score: statistics with {} numbers per segment, expected {}; do they belong to another metric?",
         statistics.width(), width());
  return score(statistics.total());
}

Statistics TextMetric::statistics(std::span<const std::string> hypotheses, std::span<const Texts> references) const {
  expect_references(hypotheses, references);
  expect_utf8(hypotheses, references);
  Statistics all(width());
  for (size_t i = 0; i < hypotheses.size(); ++i) all.add(of_segment(hypotheses[i], references[i]));
  return all;
}

Score TextMetric::score(std::span<const std::string> hypotheses, std::span<const Texts> references) const {
  return score(statistics(hypotheses, references));
}

Score TextMetric::segment_score(const std::string& hypothesis, const Texts& references) const {
  return segment_score(statistics({&hypothesis, 1}, {&references, 1})[0]);
}

}  // namespace heed::metric
