// The entries that a set of options names, looked up once.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "heed/attend/entry.h"

namespace heed::attend {

struct Parts {
  const Entry* structure = nullptr;
  const Entry* input = nullptr;
  const Entry* score = nullptr;
  const Entry* normalise = nullptr;
  const Entry* time = nullptr;
  std::vector<const Entry*> regions = {};

  /// All of them, the structure first and the input last.
  std::vector<const Entry*> all() const {
    std::vector<const Entry*> entries = {structure, score, normalise, time};
    entries.insert(entries.end(), regions.begin(), regions.end());
    entries.push_back(input);
    return entries;
  }
  /// Whether one of them has a property: any(&Entry::order_matters).
  bool any(bool Entry::*fact) const {
    const auto entries = all();
    return std::any_of(entries.begin(), entries.end(), [&](const Entry* e) { return e->*fact; });
  }
  bool has_region(const Entry& entry) const {
    return std::find(regions.begin(), regions.end(), &entry) != regions.end();
  }
};

/// Throws, listing every unknown name.
Parts resolve(const Options& options);

/// Every unknown name, with a suggestion; the known ones are in `parts`.
std::vector<std::string> unknown_words(const Options& options, Parts& parts);

}  // namespace heed::attend
