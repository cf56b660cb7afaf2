#include "cli/label_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "cli/columns.h"
#include "heed/text/label_set.h"

namespace heed::cli {

namespace {

using file::Json;
using metric::Confusion;

constexpr size_t kWidestLabel = 24;  // columns
constexpr size_t kMostRows = 20;     // labels that are listed; --json has all

/// A name for a table: one line, not too wide.
std::string named(const std::string& label) { return label.empty() ? "(none)" : isolated(cut_to(label, kWidestLabel)); }

/// The labels that are most often wrong first; ties by name.
std::vector<size_t> most_confused_first(const Confusion& c) {
  std::vector<size_t> order(c.labels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return c.wrong(a) > c.wrong(b); });
  return order;
}

/// Empty if it does not fit.
std::string matrix_text(const Confusion& c, const std::vector<size_t>& order, const Terminal& terminal) {
  std::vector<Row> rows(1, Row{"right \\ given"});
  for (const size_t given : order) rows.front().push_back(named(c.labels[given]));
  for (const size_t right : order) {
    if (c.texts(right) == 0) continue;  // only given
    Row row = {named(c.labels[right])};
    for (const size_t given : order) row.push_back(fmt::format("{}", c.counts[right][given]));
    rows.push_back(std::move(row));
  }
  size_t width = 0;
  for (size_t column = 0; column < rows.front().size(); ++column) {
    size_t widest = 0;
    for (const Row& row : rows) widest = std::max(widest, columns_of(row[column]));
    width += widest + 2;
  }
  return width > terminal.width() ? "" : table(rows, terminal, 0);
}

/// "earn 12, acq 3": what texts with this right label were taken for.
std::string taken_for(const Confusion& c, size_t right) {
  constexpr size_t kNamed = 4;
  std::vector<size_t> others;
  for (size_t given = 0; given < c.labels.size(); ++given)
    if (given != right && c.counts[right][given] > 0) others.push_back(given);
  std::stable_sort(others.begin(), others.end(),
                   [&](size_t a, size_t b) { return c.counts[right][a] > c.counts[right][b]; });
  std::string text;
  for (size_t i = 0; i < std::min(kNamed, others.size()); ++i)
    text += fmt::format("{}{} {}", i ? ", " : "", named(c.labels[others[i]]), c.counts[right][others[i]]);
  return others.size() > kNamed ? text + ", ..." : text;
}

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

std::string labels_text(const LabelReport& r, const Terminal& terminal) {
  const bool single = !r.confusion.labels.empty();
  std::vector<const metric::LabelCount*> order;
  for (const metric::LabelCount& count : r.labels) order.push_back(&count);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->f1() < b->f1(); });
  std::vector<Row> rows = {{"label", "texts", "precision", "recall", "F1"}};
  if (single) rows.front().emplace_back("taken for");
  for (const metric::LabelCount* count : order) {
    if (rows.size() > kMostRows) break;
    rows.push_back({named(count->label), fmt::format("{:.0f}", count->right), percent(count->precision()),
                    percent(count->recall()), percent(count->f1())});
    if (!single) continue;
    const auto at = std::lower_bound(r.confusion.labels.begin(), r.confusion.labels.end(), count->label);
    rows.back().push_back(taken_for(r.confusion, static_cast<size_t>(at - r.confusion.labels.begin())));
  }
  std::string text = table(rows, terminal, 0);
  if (order.size() > kMostRows)
    text += fmt::format("  the {} labels with the lowest F1 of {}; --json has all\n", kMostRows, order.size());
  return text;
}

}  // namespace

LabelReport label_report(const Outputs& compared, std::string_view between) {
  LabelReport r;
  r.labels = metric::count_labels(compared.hypotheses, compared.references, between);
  if (between.empty()) r.confusion = metric::confusion(compared.hypotheses, compared.references);
  std::vector<bool> right;
  for (size_t i = 0; i < compared.hypotheses.size(); ++i)
    right.push_back(
        text::labels_of(compared.hypotheses[i], between) ==
        text::labels_of(metric::right_labels(compared.hypotheses[i], compared.references[i], between), between));
  r.calibration = metric::calibration(compared.probabilities, right);
  return r;
}

std::string label_report_text(const LabelReport& r, const Terminal& terminal) {
  std::string text = fmt::format("calibration error = {:.2f} (", 100 * r.calibration.error);
  text += "percent; how far the probabilities are from the share that is right)\n\n";
  text += labels_text(r, terminal);
  if (r.confusion.labels.empty()) return text;
  const std::vector<size_t> order = most_confused_first(r.confusion);
  if (const std::string matrix = matrix_text(r.confusion, order, terminal); !matrix.empty()) text += "\n" + matrix;
  return text;
}

void add_label_report(Json& j, const LabelReport& r) {
  j["calibration_error"] = 100 * r.calibration.error;
  j["calibration"] = Json::array();
  for (const metric::CalibrationBin& bin : r.calibration.bins)
    j["calibration"].push_back(
        Json::object({{"answers", bin.answers}, {"probability", bin.probability}, {"right", bin.right}}));
  j["labels"] = Json::array();
  for (const metric::LabelCount& c : r.labels)
    j["labels"].push_back(Json::object({{"label", c.label},
                                        {"texts", static_cast<int64_t>(c.right)},
                                        {"given", static_cast<int64_t>(c.given)},
                                        {"precision", c.precision()},
                                        {"recall", c.recall()},
                                        {"f1", c.f1()}}));
  if (r.confusion.labels.empty()) return;
  j["confusion"] = Json::object({{"labels", r.confusion.labels}, {"counts", Json::array()}});
  for (const std::vector<int64_t>& row : r.confusion.counts) j["confusion"]["counts"].push_back(row);
}

}  // namespace heed::cli
