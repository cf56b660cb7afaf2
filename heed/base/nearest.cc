#include "heed/base/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "heed/base/error.h"

namespace heed {

namespace {
/// Levenshtein's, one row at a time.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}
}  // namespace

std::string nearest(std::string_view name, std::span<const std::string> names) {
  std::string best;
  size_t least = static_cast<size_t>(-1);
  for (const auto& each : names) {
    const size_t distance = edit_distance(name, each);
    if (distance < least) {
      least = distance;
      best = each;
    }
  }
  return best;
}

std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string> names) {
  if (names.empty()) return fmt::format("there is no {} '{}': there is none at all", what, name);
  return fmt::format("there is no {} '{}'; did you mean '{}'? There are: {}", what, name, nearest(name, names),
                     fmt::join(names, ", "));
}

void expect_known(std::string_view what, std::string_view name, std::span<const std::string> names) {
  if (std::find(names.begin(), names.end(), name) == names.end()) throw Error(unknown_name(what, name, names));
}

}  // namespace heed
