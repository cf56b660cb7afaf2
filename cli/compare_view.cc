#include "cli/compare_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/columns.h"
#include "cli/options.h"
#include "cli/order.h"
#include "cli/progress.h"

namespace heed::cli {

namespace {

constexpr std::chrono::milliseconds kRedraw(100);

/// What a narrow terminal leaves out first.
constexpr std::string_view kLeastImportant[] = {"updates",   "parameters", "MB",      "seconds",  "loss",
                                                "decoded/s", "forward",    "entropy", "trained/s"};

using Cells = std::vector<std::string>;

size_t width_of(const std::vector<size_t>& widths, const std::vector<bool>& shown) {
  size_t all = 0;
  for (size_t c = 0; c < widths.size(); ++c)
    if (shown[c]) all += widths[c] + 2;
  return all;
}

/// Numbers to the right, names to the left.
std::string line_of(const Cells& cells, const std::vector<size_t>& widths, const std::vector<bool>& shown) {
  std::string line;
  for (size_t c = 0; c < cells.size(); ++c) {
    if (!shown[c]) continue;
    const std::string blanks(widths[c] - columns_of(cells[c]), ' ');
    line += (c == 1 ? cells[c] + blanks : blanks + cells[c]) + "  ";
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

}  // namespace

std::string comparison_text(const compare::Table& table, const Terminal& terminal, size_t width) {
  const Cells titles = compare::headings(table);
  std::vector<Cells> rows;
  for (const compare::Row& row : table.rows)
    if (row.runs > 0) rows.push_back(compare::cells(table, row));
  std::vector<size_t> widths(titles.size());
  for (size_t c = 0; c < titles.size(); ++c) {
    widths[c] = columns_of(titles[c]);
    for (const Cells& row : rows) widths[c] = std::max(widths[c], columns_of(row[c]));
  }
  std::vector<bool> shown(titles.size(), true);
  for (const std::string_view title : kLeastImportant) {
    if (width_of(widths, shown) <= width) break;
    const auto found = std::find(titles.begin(), titles.end(), title);
    if (found != titles.end()) shown[static_cast<size_t>(found - titles.begin())] = false;
  }
  std::string text = terminal.faint(line_of(titles, widths, shown)) + "\n";
  for (size_t r = 0; r < rows.size(); ++r) {
    const std::string line = cut_to(line_of(rows[r], widths, shown), width);
    text += (r == 0 ? terminal.bold(line) : line) + "\n";
  }
  return text;
}

void ComparisonView::erase() {
  if (std::exchange(lines_, 0) == 0) return;
  print(order("\r\033[J"));
}

/// The table above the bar, as far as the screen is high enough; the cursor stays at its first line.
void ComparisonView::draw() {
  if (!terminal_.interactive()) return;
  last_drawn_ = Clock::now();
  const size_t room = terminal_.height() > 4 ? terminal_.height() - 3 : 1;
  std::string text;
  size_t lines = 0, begin = 0;
  while (begin < table_.size() && lines < room) {
    const size_t end = table_.find('\n', begin) + 1;
    text += table_.substr(begin, end - begin);
    begin = end;
    ++lines;
  }
  text += cut_to(current_ + "  " + bar_, terminal_.width() - 1);
  lines_ = lines + 1;
  print(order("\r\033[J") + text + order(lines > 0 ? fmt::format("\r\033[{}A", lines) : "\r"));
}

void ComparisonView::run_begins(const compare::Variant& variant, uint64_t seed, const compare::Table& so_far) {
  current_ = fmt::format("run {} of {}: {}, seed {}", so_far.done + 1, so_far.runs, variant.name, seed);
  bar_.clear();
  table_ = so_far.metric.empty() ? "" : comparison_text(so_far, terminal_, terminal_.width() - 1);
  draw();
}

void ComparisonView::run_ended(const compare::Variant& variant, uint64_t seed, const compare::Result& result,
                               const compare::Table& so_far) {
  if (terminal_.interactive()) {
    table_ = comparison_text(so_far, terminal_, terminal_.width() - 1);
    return draw();
  }
  const std::string beginning = fmt::format("{} of {}  {}, seed {}: ", so_far.done, so_far.runs, variant.name, seed);
  if (!result.error.empty()) return print(beginning + "failed: " + result.error + "\n");
  print(beginning + fmt::format("{} {:.2f}  loss {:.4f}  {}\n", result.metric_name, result.value, result.loss,
                                duration_text(result.seconds)));
}

void ComparisonView::preparing(const std::string& what) {
  bar_ = terminal_.faint(what + " ...");
  draw();
}

void ComparisonView::warned(const std::string& text) {
  if (!warnings_.insert(text).second) return;  // every run reads the same data
  erase();
  note(fmt::format("heed: {}\n", text.substr(0, text.find_last_not_of('\n') + 1)));
  draw();
}

void ComparisonView::stepped(const train::StepReport& report, const train::Progress& progress) {
  if (!terminal_.interactive() || Clock::now() - last_drawn_ < kRedraw) return;
  const size_t used = columns_of(current_) + 3;
  bar_ = bar_text(report, progress, started_, terminal_.width() > used + 20 ? terminal_.width() - used : 20);
  draw();
}

void ComparisonView::validating(int64_t) {
  bar_ = terminal_.faint("validating ...");
  draw();
}

}  // namespace heed::cli
