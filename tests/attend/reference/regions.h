// Which pairs exist.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/attend/reference/scores.h"

namespace heed::attend::test {

/// "causal+sinks" -> causal, sinks
inline std::vector<std::string> regions_of(const Options& o) {
  std::vector<std::string> names(1);
  for (const char c : o.region) {
    if (c == '+')
      names.emplace_back();
    else
      names.back() += c;
  }
  return names;
}
inline bool has_region(const Options& o, const std::string& name) {
  const std::vector<std::string> names = regions_of(o);
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A pair in its sequence.
struct Place {
  int64_t b = 0;
  int64_t query_row = 0;  // in the whole batch; -1: a query that has no row of its own (learned, static)
  int64_t position = 0;   // of the query on the axis of the keys
  int64_t key = 0;        // in its sequence
  double centre = 0.0;    // local_p
};

/// p = S sigmoid(v_p . tanh(W_p q))
inline double centre_of(const Values& x, const Row& q, double keys) {
  return keys * sigmoid_of(inner(row_of(at(x, "region.v"), 0), tanh_of(times(at(x, "region.weight"), q))));
}

inline double gaussian(const Options& o, const Place& at) {
  if (!has_region(o, "local_p") && !(has_region(o, "local_h") && o.sigma > 0.0f)) return 1.0;
  const double sigma = o.sigma > 0.0f ? o.sigma : static_cast<double>(o.window) / 2.0;
  const double distance = static_cast<double>(at.key) - at.centre;
  if (o.over_all && std::abs(distance) > static_cast<double>(o.window)) return 0.0;
  return std::exp(-distance * distance / (2.0 * sigma * sigma));
}

inline bool allowed_by(const std::string& region, const Question& ask, const Place& at) {
  const Options& o = *ask.options;
  const Layout& layout = *ask.layout;
  const int64_t distance = at.key - at.position;  // negative: the key lies before the query
  const bool first = has_region(o, "sinks") && at.key < o.sinks;
  if (region == "global" || region == "sinks") return true;
  if (region == "local_h") return true;  // the scores come first: around_best()
  if (region == "not_self") return distance != 0;
  if (region == "causal") return o.strict ? distance < 0 : distance <= 0;
  if (region == "local_m") return distance <= o.window && (first || distance >= -o.window);
  if (region == "sliding_window") return distance <= 0 && (first || distance >= -o.window);
  if (region == "local_p" && o.over_all) return true;
  if (region == "local_p") return std::abs(static_cast<double>(at.key) - at.centre) <= static_cast<double>(o.window);
  if (region == "documents")
    return first ||
           layout.query_documents.at(at.query_row) == layout.key_documents.at(layout.key_offsets[at.b] + at.key);
  if (region == "masked")
    return layout.mask.empty() || layout.mask.at(at.query_row * layout.longest_keys() + at.key) != 0;
  throw std::runtime_error("the reference knows no region '" + region + "'");
}

inline bool visible(const Question& ask, const Place& at) {
  if (at.key >= ask.layout->counted_keys(at.b)) return false;
  for (const std::string& region : regions_of(*ask.options))
    if (!allowed_by(region, ask, at)) return false;
  return true;
}

}  // namespace heed::attend::test
