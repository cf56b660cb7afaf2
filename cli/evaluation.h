// Scores of outputs against references, as text and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "heed/base/json.h"
#include "heed/text/metric/all.h"
#include "heed/text/metric/resample.h"

namespace heed::cli {

struct EvaluationOptions {
  std::vector<std::string> metrics;
  metric::MetricOptions metric;
  bool lowercase = false;
  bool remove_bpe = false;     // "gro@@ ß" is "groß"
  bool confidence = false;     // 95 % intervals, by bootstrap
  bool randomisation = false;  // compare by approximate randomisation instead of bootstrap
  uint64_t seed = 12345;
};

struct Outputs {
  metric::Texts hypotheses;
  std::vector<metric::Texts> references;  // of each hypothesis
  std::optional<metric::Texts> baseline;  // what to compare with
  metric::Texts sources;                  // of each hypothesis; empty if they are not known
  std::vector<int64_t> lines;             // of each source, its line in the file; empty: 1, 2, 3, ...
  bool labels = false;                    // they are labels, not texts
  std::vector<double> probabilities;      // labels: of each hypothesis
};

/// With the changes that the options ask for: without BPE marks, in lower case.
Outputs as_compared(Outputs outputs, const EvaluationOptions& options);

struct Evaluated {
  std::string key;  // as requested: "bleu"
  std::string meaning;
  std::string signature;  // of the settings, as sacreBLEU writes it
  metric::Score score;
  std::optional<metric::Interval> interval;
  std::optional<metric::Comparison> comparison;
};

/// Throws Error if the texts do not belong together.
std::vector<Evaluated> evaluate(Outputs outputs, const EvaluationOptions& options);

/// A table, then `note`, then the lines that papers quote.
std::string evaluation_text(const std::vector<Evaluated>& all, const std::string& note, const Terminal& terminal);
file::Json evaluation_json(const std::vector<Evaluated>& all, size_t segments);

}  // namespace heed::cli
