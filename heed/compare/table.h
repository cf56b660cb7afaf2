// The table of a comparison: means, spreads, ranks, and which differences may be chance.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/compare/measures.h"
#include "heed/compare/plan.h"
#include "heed/compare/result.h"
#include "heed/compare/statistics.h"

namespace heed::compare {

/// [variants][seeds] of the plan; none: not done yet.
using Results = std::vector<std::vector<std::optional<Result>>>;

struct Row {
  size_t variant = 0;  // of the plan
  std::string name;    // its name
  int64_t rank = 0;    // from 1, by the mean of the metric; equal ones share it; 0: without a value
  std::string reason;  // why there is no value: refused, failed; empty: it has one, or is still to come
  int64_t runs = 0;    // that gave a value
  std::vector<std::optional<Mean>> means = {};  // [all_measures()]
  /// Of the difference to the first row: how likely it is by chance alone. None for the first row itself, and where
  /// there is nothing to test with.
  std::optional<double> p = {}, adjusted_p = {};  // adjusted_p: with Holm's correction for all rows
  std::optional<Picture> picture = {};            // of the first seed
};

struct Table {
  std::string metric, metric_name;  // empty: no run is done
  bool higher_is_better = true;
  std::string test;       // how p was found, one sentence
  int64_t done = 0;       // runs that are done, failed ones included
  int64_t runs = 0;       // of the plan
  std::vector<Row> rows;  // the best first; then those still to come, then those without a value
};

/// Seeds are compared in pairs (the same data, the same order of batches): with two or more, a paired t-test of the
/// metric; with one, approximate randomisation of the validation lines (heed/text/metric/resample.h).
Table make_table(const Plan& plan, const Results& results);

/// The differences from the first row that are below this are called significant.
inline constexpr double kSignificant = 0.05;

// --------------------------------------------------------------------------------------------- for people, as text

/// What heads the columns: rank, name, a title for each measure, p.
std::vector<std::string> headings(const Table& table);
/// The cells below them: "1", "additive", "98.20 ± 0.31", ..., "0.031".
std::vector<std::string> cells(const Table& table, const Row& row);
/// What the columns mean, and how p was found: a sentence each.
std::vector<std::string> legend(const Table& table);

}  // namespace heed::compare
