// The list of what a comparison reports about each variant. The table, its files and its page follow from it: a new
// figure is a field of Result and one line here.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "heed/compare/result.h"

namespace heed::compare {

struct Measure {
  const char* key;      // in JSON and CSV
  const char* title;    // heads a column; of "value": the metric's name
  const char* meaning;  // one sentence
  bool with_spread;     // in tables for people, its spread over the seeds is shown too
  std::optional<double> (*of)(const Result&);
  std::string (*text)(double);  // for people
};

/// The value of the metric comes first.
std::span<const Measure> all_measures();

}  // namespace heed::compare
