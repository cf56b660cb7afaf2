// Confidence intervals of scores, and significance tests between two systems: for every metric, from its statistics.
#pragma once

#include <cstdint>
#include <string>

#include "heed/text/metric/metric.h"

namespace heed::metric {

struct ResampleOptions {
  int64_t samples = 1000;  // approximate_randomisation(): 10000 is usual
  uint64_t seed = 12345;   // the same seed gives the same result on every machine
};

/// 95 % confidence interval of a score.
struct Interval {
  double mean = 0, low = 0, high = 0;  // of the samples; 95 percent of them are between low and high
  double half() const { return (high - low) / 2; }
  std::string note() const;  // for Score::line(): "μ = 41.05 ± 1.20", as sacreBLEU
};

/// Bootstrap (Efron 1979; Koehn 2004): `samples` times, draws as many segments as there are, with replacement.
Interval confidence(const Metric& metric, const Statistics& statistics, const ResampleOptions& options = {});

struct Comparison {
  Score baseline, system;
  Interval baseline_interval, system_interval;  // of paired_bootstrap(); otherwise 0
  double p = 1;  // probability of a difference at least this large by chance alone; below 0.05 is called significant
};

// Two-sided tests of two systems on the same segments. As in sacreBLEU, with one exception: a chance difference that is
// exactly as large as the observed one counts too. Otherwise two equal systems would be called significantly different.

/// Both systems on the same bootstrap samples. By chance: the samples' difference, less its mean.
Comparison paired_bootstrap(const Metric& metric, const Statistics& baseline, const Statistics& system,
                            const ResampleOptions& options = {});

/// By chance: each segment is assigned to one system or the other by a coin toss (Noreen 1989; Riezler and Maxwell
/// 2005).
Comparison approximate_randomisation(const Metric& metric, const Statistics& baseline, const Statistics& system,
                                     const ResampleOptions& options = {.samples = 10000});

}  // namespace heed::metric
