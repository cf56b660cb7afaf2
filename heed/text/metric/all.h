// The list of the metrics that compare texts, by name.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/metric/bleu.h"
#include "heed/text/metric/chrf.h"
#include "heed/text/metric/metric.h"
#include "heed/text/metric/ter.h"

namespace heed::metric {

struct MetricOptions {
  BleuOptions bleu;
  ChrfOptions chrf;  // of chrf and chrf++; the name decides `words`
  TerOptions ter;
  std::string label_separator = {};       // of f1: see text::labels_of()
  std::vector<std::string> labels = {};   // of macro_f1: all of them
  std::vector<std::string> outputs = {};  // of distinct-1 and distinct-2: all that are judged together
};

struct MetricEntry {
  std::string name;     // what a user types
  std::string meaning;  // a sentence without its full stop
  std::string formula;  // its definition over all segments, in plain text
  bool higher_is_better;
  std::unique_ptr<TextMetric> (*make)(const MetricOptions& options);
  bool needs_labels = false;   // MetricOptions::labels
  bool needs_outputs = false;  // MetricOptions::outputs
};

std::span<const MetricEntry> all_metrics();

/// Throws Error for an unknown name, suggesting the nearest one, as all that follow do.
const MetricEntry& find_metric(std::string_view name);

std::unique_ptr<TextMetric> make_metric(std::string_view name, const MetricOptions& options = {});

/// To compare these texts, or some of them: it knows all their labels, if it has to.
std::unique_ptr<TextMetric> make_metric_for(std::span<const std::string> hypotheses, std::span<const Texts> references,
                                            std::string_view name, MetricOptions options = {});

}  // namespace heed::metric
