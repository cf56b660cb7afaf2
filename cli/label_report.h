// How well labels are found: of each label, which are taken for which, and whether probabilities can be trusted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/evaluation.h"
#include "cli/terminal.h"
#include "heed/base/json.h"
#include "heed/text/metric/calibration.h"
#include "heed/text/metric/confusion.h"
#include "heed/text/metric/f1.h"

namespace heed::cli {

struct LabelReport {
  metric::Calibration calibration;
  std::vector<metric::LabelCount> labels;
  metric::Confusion confusion;  // empty if a text may have several labels
};

/// `compared`: as as_compared() gives them. `between`: what separates the labels of a text; empty: it has one.
LabelReport label_report(const Outputs& compared, std::string_view between);

/// The matrix if it fits the terminal, otherwise what each label is taken for; the most confused labels first.
std::string label_report_text(const LabelReport& report, const Terminal& terminal);

/// Adds "calibration_error", "calibration", "labels" and "confusion" to what was evaluated.
void add_label_report(file::Json& json, const LabelReport& report);

}  // namespace heed::cli
