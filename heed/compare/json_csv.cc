// For programs: all of a comparison as JSON, its table as CSV.
#include <fmt/format.h>

#include <utility>

#include "heed/compare/writers.h"

namespace heed::compare {

namespace {

using file::Json;

Json json_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

/// Without what is only needed to test for significance; result.json of each run has it.
bool is_for_tests_only(const std::string& name) {
  return name == "statistics" || name == "labels" || name == "labels_between";
}

Json run_json(uint64_t seed, const Result& result) {
  Json json = Json::object({{"seed", seed}});
  const Json all = to_json(result);
  for (const auto& [name, value] : *all.as<Json::Members>())
    if (!is_for_tests_only(name)) json[name] = value;
  return json;
}

Json row_json(const Plan& plan, const Row& row, const std::vector<std::optional<Result>>& results) {
  const Variant& variant = plan.variants[row.variant];
  Json means = Json::object();
  const std::span<const Measure> measures = all_measures();
  for (size_t m = 0; m < measures.size(); ++m)
    means[measures[m].key] =
        row.means[m] ? Json::object({{"mean", row.means[m]->mean}, {"spread", json_or_null(row.means[m]->spread)}})
                     : Json();
  Json runs = Json::array();
  for (size_t seed = 0; seed < results.size(); ++seed)
    if (results[seed]) runs.push_back(run_json(plan.seeds[seed], *results[seed]));
  return Json::object({{"name", row.name},
                       {"settings", variant.settings},
                       {"folder", variant.folder},
                       {"rank", row.rank > 0 ? Json(row.rank) : Json()},
                       {"reason", row.reason},
                       {"means", means},
                       {"p", json_or_null(row.p)},
                       {"adjusted_p", json_or_null(row.adjusted_p)},
                       {"runs", runs}});
}

/// Quoted where a comma, a quote or a new line would break it.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_number(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

}  // namespace

std::string json_text(const Plan& plan, const Table& table, const Results& results) {
  Json rows = Json::array();
  for (const Row& row : table.rows) rows.push_back(row_json(plan, row, results[row.variant]));
  const Json all = Json::object({{"recipe", recipe::short_text_of(plan.base.settled)},
                                 {"seeds", plan.seeds},
                                 {"metric", table.metric},
                                 {"higher_is_better", table.higher_is_better},
                                 {"test", table.test},
                                 {"runs_done", table.done},
                                 {"runs", table.runs},
                                 {"variants", rows}});
  return all.line(1) + "\n";
}

std::string csv_text(const Table& table) {
  std::string text = "name,rank,runs";
  for (const Measure& measure : all_measures()) text += fmt::format(",{},{}_spread", measure.key, measure.key);
  text += ",p,adjusted_p,reason\n";
  for (const Row& row : table.rows) {
    text += fmt::format("{},{},{}", csv_cell(row.name), row.rank > 0 ? fmt::format("{}", row.rank) : "", row.runs);
    for (const std::optional<Mean>& mean : row.means)
      text += fmt::format(",{},{}", mean ? csv_number(mean->mean) : "", mean ? csv_number(mean->spread) : "");
    text += fmt::format(",{},{},{}\n", csv_number(row.p), csv_number(row.adjusted_p), csv_cell(row.reason));
  }
  return text;
}

}  // namespace heed::compare
