#include "heed/compare/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/text/metric/resample.h"

namespace heed::compare {

namespace {

/// Enough that Holm's correction for some dozen rows leaves small values, and fast enough after every run.
constexpr int64_t kSamples = 4000;

bool has_value(const std::optional<Result>& result) { return result && result->error.empty(); }

const Result* first_of(const Results& results) {
  for (const auto& runs : results)
    for (const std::optional<Result>& run : runs)
      if (has_value(run)) return &*run;
  return nullptr;
}

metric::Statistics statistics_of(const Result& result, size_t width) {
  metric::Statistics all(width);
  for (const std::vector<double>& row : result.statistics) all.add(row);
  return all;
}

/// Whether the other variant differs from the best by more than chance.
std::optional<double> p_of(const std::vector<std::optional<Result>>& best,
                           const std::vector<std::optional<Result>>& other) {
  std::vector<double> a, b;
  const Result *first = nullptr, *second = nullptr;
  for (size_t seed = 0; seed < best.size(); ++seed) {
    if (!has_value(best[seed]) || !has_value(other[seed])) continue;
    a.push_back(best[seed]->value);
    b.push_back(other[seed]->value);
    first = &*best[seed];
    second = &*other[seed];
  }
  if (a.size() != 1) return paired_t_test(a, b);
  if (first->statistics.empty() || first->statistics.size() != second->statistics.size()) return {};
  if (first->labels != second->labels) return {};
  const std::unique_ptr<metric::Metric> metric = metric_of(*first);
  const metric::Statistics one = statistics_of(*first, metric->width()), two = statistics_of(*second, metric->width());
  // Not the paired bootstrap: it subtracts the mean of its samples, and where scores are whole lines (exact match) the
  // noise of that mean decides whether the next whole number counts. 80 and 79 of 100 lines differed with p = 0.08.
  return metric::approximate_randomisation(*metric, one, two, {.samples = kSamples}).p;
}

Row row_of(const Variant& variant, size_t index, const std::vector<std::optional<Result>>& runs) {
  Row row{.variant = index, .name = variant.name, .reason = variant.refusal};
  const std::span<const Measure> measures = all_measures();
  std::vector<std::vector<double>> values(measures.size());
  std::string failure;
  for (const std::optional<Result>& run : runs) {
    if (!run) continue;
    if (!run->error.empty()) {
      failure = run->error;
      continue;
    }
    ++row.runs;
    for (size_t m = 0; m < measures.size(); ++m)
      if (const std::optional<double> value = measures[m].of(*run)) values[m].push_back(*value);
  }
  // Another seed may have another line: only the first can be shown beside the others.
  if (has_value(runs.front())) row.picture = runs.front()->picture;
  for (const std::vector<double>& of_measure : values) row.means.push_back(mean_of(of_measure));
  if (row.runs == 0 && !failure.empty()) row.reason = "training failed: " + failure;
  return row;
}

void rank(Table& table) {
  const auto group = [](const Row& row) { return row.runs > 0 ? 0 : row.reason.empty() ? 1 : 2; };
  const auto value = [&](const Row& row) {
    return table.higher_is_better ? -row.means.front()->mean : row.means.front()->mean;
  };
  const auto loss = [](const Row& row) { return row.means[1]->mean; };  // decides between equal values
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const Row& a, const Row& b) {
    if (group(a) != group(b)) return group(a) < group(b);
    if (group(a) != 0) return false;
    return value(a) != value(b) ? value(a) < value(b) : loss(a) < loss(b);
  });
  for (size_t i = 0; i < table.rows.size() && table.rows[i].runs > 0; ++i) {
    const bool same = i > 0 && value(table.rows[i]) == value(table.rows[i - 1]);
    table.rows[i].rank = same ? table.rows[i - 1].rank : static_cast<int64_t>(i) + 1;
  }
}

void test_differences(Table& table, const Results& results) {
  std::vector<double> found;
  std::vector<Row*> of;
  for (size_t i = 1; i < table.rows.size() && table.rows[i].runs > 0; ++i) {
    Row& row = table.rows[i];
    row.p = p_of(results[table.rows.front().variant], results[row.variant]);
    if (!row.p) continue;
    found.push_back(*row.p);
    of.push_back(&row);
  }
  const std::vector<double> adjusted = holm(found);
  for (size_t i = 0; i < of.size(); ++i) of[i]->adjusted_p = adjusted[i];
}

std::string p_text(double p) { return p < 0.001 ? "<0.001" : fmt::format("{:.3f}", p); }

}  // namespace

Table make_table(const Plan& plan, const Results& results) {
  expect(results.size() == plan.variants.size(), ErrorKind::bug, "make_table: results of {} variants, expected {}",
         results.size(), plan.variants.size());
  Table table;
  table.runs = plan.runs();
  if (const Result* first = first_of(results)) {
    table.metric = first->metric;
    table.metric_name = first->metric_name;
    table.higher_is_better = first->higher_is_better;
  }
  table.test = plan.seeds.size() > 1
                   ? fmt::format("a paired t-test over {} seeds", plan.seeds.size())
                   : "approximate randomisation of the validation lines; one seed says nothing about other seeds";
  for (size_t v = 0; v < plan.variants.size(); ++v) {
    table.rows.push_back(row_of(plan.variants[v], v, results[v]));
    table.done += std::count_if(results[v].begin(), results[v].end(), [](const auto& run) { return run.has_value(); });
  }
  rank(table);
  test_differences(table, results);
  return table;
}

std::vector<std::string> headings(const Table& table) {
  std::vector<std::string> all = {"", "variant"};
  for (const Measure& measure : all_measures()) all.emplace_back(measure.title);
  if (!table.metric_name.empty()) all[2] = table.metric_name;
  all.emplace_back("p");
  return all;
}

std::vector<std::string> cells(const Table& table, const Row& row) {
  std::vector<std::string> all = {row.rank > 0 ? fmt::format("{}", row.rank) : "", row.name};
  const std::span<const Measure> measures = all_measures();
  for (size_t m = 0; m < measures.size(); ++m) {
    const std::optional<Mean>& mean = row.means[m];
    std::string text = mean ? measures[m].text(mean->mean) : "";
    if (mean && mean->spread && measures[m].with_spread) text += " ± " + measures[m].text(*mean->spread);
    all.push_back(std::move(text));
  }
  all.push_back(&row == &table.rows.front() && row.rank > 0 ? "best" : row.adjusted_p ? p_text(*row.adjusted_p) : "");
  return all;
}

std::vector<std::string> legend(const Table& table) {
  std::vector<std::string> all;
  for (const Measure& measure : all_measures())
    all.push_back(fmt::format("{}: {}", measure.key == std::string_view("value") ? table.metric_name : measure.title,
                              measure.meaning));
  if (!all.empty()) all.front() += fmt::format(" {} is better.", table.higher_is_better ? "Higher" : "Lower");
  all.push_back(
      fmt::format("p: How likely such a difference from the best is by chance alone: {}. Corrected for the number of "
                  "rows (Holm); below {} is called significant.",
                  table.test, kSignificant));
  return all;
}

}  // namespace heed::compare
