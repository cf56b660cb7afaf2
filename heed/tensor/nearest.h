// Finds the known name that a mistyped one was meant to be.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/tensor/error.h"

namespace heed {

/// The name with the smallest edit distance to `name`, the first one in a tie; empty if there are none.
std::string nearest(std::string_view name, std::span<const std::string> names);

/// The entry of that name among `entries`, pointers to what has a `name`. Throws Error, naming the nearest; `what` says
/// what was looked for.
template <class Entry>
const Entry& find_by_name(const std::vector<const Entry*>& entries, std::string_view name, std::string_view what) {
  std::vector<std::string> names;
  for (const Entry* entry : entries) {
    if (name == entry->name) return *entry;
    names.emplace_back(entry->name);
  }
  throw Error(fmt::format("there is no {} '{}'; did you mean '{}'? There are: {}", what, name, nearest(name, names),
                          fmt::join(names, ", ")));
}

}  // namespace heed
