// Sources for a search, packed one after the other.
#pragma once

#include <span>
#include <vector>

#include "heed/search/search.h"

namespace heed::search {

struct SourceBatch {
  std::vector<int32_t> ids = {};
  std::vector<int64_t> offsets = {0}, numbers = {}, places = {};  // places: in the sources that they come from
  std::vector<const Rules*> rules = {};

  /// `of_it`: its rules, or null.
  void add(std::span<const int32_t> source, int64_t number, const Rules* of_it) {
    ids.insert(ids.end(), source.begin(), source.end());
    offsets.push_back(std::ssize(ids));
    if (of_it) rules.resize(numbers.size(), nullptr);
    if (of_it || !rules.empty()) rules.push_back(of_it);
    numbers.push_back(number);
  }
  void add(const Sources& all, int64_t b) {
    add(all.at(b), all.number(b), all.rules_of(b));
    places.push_back(b);
  }
  Sources view() const { return {.ids = ids, .offsets = offsets, .numbers = numbers, .rules = rules}; }
};

}  // namespace heed::search
