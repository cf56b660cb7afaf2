// How sure is a score, and is one system really better than another: for every metric, from its statistics alone.
#pragma once

#include <cstdint>
#include <string>

#include "heed/metric/metric.h"

namespace heed::metric {

struct ResampleOptions {
  int64_t samples = 1000;  // approximate_randomisation(): 10000 is usual
  uint64_t seed = 12345;   // the same seed, the same result, on every machine
};

/// Where the score would lie on other texts of the same kind.
struct Interval {
  double mean = 0, low = 0, high = 0;  // of the samples; between low and high lie 95 percent of them
  double half() const { return (high - low) / 2; }
  std::string note() const;  // for Score::line(): "μ = 41.05 ± 1.20", as sacreBLEU
};

/// Bootstrap (Efron 1979; Koehn 2004): as many segments as there are, drawn with repetition, `samples` times.
Interval confidence(const Metric& metric, const Statistics& statistics, const ResampleOptions& options = {});

struct Comparison {
  Score baseline, system;
  Interval baseline_interval, system_interval;  // of paired_bootstrap(); otherwise 0
  double p = 1;  // how likely is a difference at least as large by chance alone; below 0.05 is called significant
};

// Two-sided tests of the same segments in two systems. As in sacreBLEU, but for one thing: a difference by chance that
// is exactly as large as the one found counts too. Otherwise two equal systems would be called significantly different.

/// Both systems on the same bootstrap samples. By chance: the samples' difference, less its mean.
Comparison paired_bootstrap(const Metric& metric, const Statistics& baseline, const Statistics& system,
                            const ResampleOptions& options = {});

/// By chance: each segment belongs to the one system or the other by the toss of a coin (Noreen 1989; Riezler and
/// Maxwell 2005).
Comparison approximate_randomisation(const Metric& metric, const Statistics& baseline, const Statistics& system,
                                     const ResampleOptions& options = {.samples = 10000});

}  // namespace heed::metric
