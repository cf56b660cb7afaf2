#include "heed/text/metric/resample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/random.h"

namespace heed::metric {

namespace {

using Numbers = std::vector<double>;

void expect_usable(const Metric& metric, const Statistics& statistics, const ResampleOptions& options) {
  expect(statistics.width() == metric.width(), "resampling: statistics with {} numbers per segment, expected {}",
         statistics.width(), metric.width());
  expect(statistics.segments() > 0, ErrorKind::data, "resampling: there are no segments");
  expect(options.samples > 0, "resampling: samples must be at least 1, not {}", options.samples);
}

/// The start of both tests: checks that the two systems are comparable, and computes their scores.
Comparison scores_of(const Metric& metric, const Statistics& baseline, const Statistics& system,
                     const ResampleOptions& options) {
  expect_usable(metric, baseline, options);
  expect_usable(metric, system, options);
  expect(baseline.segments() == system.segments(), ErrorKind::data, "the baseline has {} segments, the system {}",
         baseline.segments(), system.segments());
  return {.baseline = metric.score(baseline),
          .system = metric.score(system),
          .baseline_interval = {},
          .system_interval = {},
          .p = 1};
}

/// The scores of the samples. The same seed draws the same segments, so systems can be compared sample by sample.
Numbers bootstrap_scores(const Metric& metric, const Statistics& statistics, const ResampleOptions& options) {
  text::Random random(options.seed);
  Numbers scores;
  for (int64_t sample = 0; sample < options.samples; ++sample) {
    Numbers total(statistics.width());
    for (size_t i = 0; i < statistics.segments(); ++i) {
      const auto row = statistics[random.below(statistics.segments())];
      for (size_t k = 0; k < total.size(); ++k) total[k] += row[k];
    }
    scores.push_back(metric.score(std::span<const double>(total)).value);
  }
  return scores;
}

double mean_of(const Numbers& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Interval interval_of(Numbers scores) {
  std::sort(scores.begin(), scores.end());
  const size_t outside = scores.size() / 40;  // 2.5 percent on each side
  return {mean_of(scores), scores[outside], scores[scores.size() - outside - 1]};
}

/// The share of the differences by chance that reach the one found; found itself is one of them, so it is never 0.
double p_value(const Numbers& by_chance, double found) {
  const double reached = found - 1e-9;  // what is equal may differ by rounding
  const auto count = std::count_if(by_chance.begin(), by_chance.end(), [&](double x) { return x >= reached; });
  return static_cast<double>(count + 1) / static_cast<double>(by_chance.size() + 1);
}

}  // namespace

std::string Interval::note() const { return fmt::format("\u03BC = {:.2f} \u00B1 {:.2f}", mean, half()); }

Interval confidence(const Metric& metric, const Statistics& statistics, const ResampleOptions& options) {
  expect_usable(metric, statistics, options);
  return interval_of(bootstrap_scores(metric, statistics, options));
}

Comparison paired_bootstrap(const Metric& metric, const Statistics& baseline, const Statistics& system,
                            const ResampleOptions& options) {
  Comparison result = scores_of(metric, baseline, system, options);
  const Numbers a = bootstrap_scores(metric, baseline, options), b = bootstrap_scores(metric, system, options);
  result.baseline_interval = interval_of(a);
  result.system_interval = interval_of(b);
  Numbers differences(a.size());
  for (size_t i = 0; i < a.size(); ++i) differences[i] = std::abs(b[i] - a[i]);
  const double mean = mean_of(differences);
  for (double& difference : differences) difference -= mean;
  result.p = p_value(differences, std::abs(result.system.value - result.baseline.value));
  return result;
}

Comparison approximate_randomisation(const Metric& metric, const Statistics& baseline, const Statistics& system,
                                     const ResampleOptions& options) {
  Comparison result = scores_of(metric, baseline, system, options);
  text::Random random(options.seed);
  Numbers differences;
  for (int64_t sample = 0; sample < options.samples; ++sample) {
    Numbers one(metric.width()), other(metric.width());
    uint64_t coins = 0;  // 64 tosses at once
    for (size_t i = 0; i < baseline.segments(); ++i, coins >>= 1) {
      if (i % 64 == 0) coins = random.next();
      const auto first = coins & 1 ? system[i] : baseline[i], second = coins & 1 ? baseline[i] : system[i];
      for (size_t k = 0; k < one.size(); ++k) {
        one[k] += first[k];
        other[k] += second[k];
      }
    }
    differences.push_back(std::abs(metric.score(std::span<const double>(one)).value -
                                   metric.score(std::span<const double>(other)).value));
  }
  result.p = p_value(differences, std::abs(result.system.value - result.baseline.value));
  return result;
}

}  // namespace heed::metric
