// The list of the metrics that compare texts, by name.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "heed/metric/bleu.h"
#include "heed/metric/chrf.h"
#include "heed/metric/metric.h"
#include "heed/metric/ter.h"

namespace heed::metric {

struct MetricOptions {
  BleuOptions bleu;
  ChrfOptions chrf;  // of chrf and chrf++; the name decides `words`
  TerOptions ter;
};

struct MetricEntry {
  std::string name;     // what a user types
  std::string meaning;  // one line
  bool higher_is_better;
  std::unique_ptr<TextMetric> (*make)(const MetricOptions& options);
};

std::span<const MetricEntry> all_metrics();

/// Throws Error for an unknown name, suggesting the nearest one.
std::unique_ptr<TextMetric> make_metric(std::string_view name, const MetricOptions& options = {});

}  // namespace heed::metric
