#include "heed/view/chosen.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/nearest.h"

namespace heed::view {

namespace {

void keep_attentions(Example& example, const Shown& shown, const std::vector<std::string>& there) {
  if (shown.attentions.empty()) return;
  for (const std::string& name : shown.attentions)
    if (!example.find(name)) throw Error(unknown_name("attention of this model", name, there));
  std::erase_if(example.maps, [&](const Map& map) {
    return std::find(shown.attentions.begin(), shown.attentions.end(), map.name) == shown.attentions.end();
  });
}

/// Only these heads, in this order.
void keep_heads(Map& map, const std::vector<int64_t>& heads) {
  if (heads.empty()) return;
  std::vector<int64_t> sorted = heads;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  expect(twice == sorted.end(), "head {} is chosen twice", twice == sorted.end() ? 0 : *twice);
  expect(sorted.front() >= 1 && sorted.back() <= map.heads, "head {}: {} has {}",
         sorted.front() < 1 ? sorted.front() : sorted.back(), map.name, map.heads);
  const int64_t size = map.rows * map.columns;
  std::vector<float> kept;
  kept.reserve(heads.size() * static_cast<size_t>(size));
  std::string numbers;
  for (const int64_t head : heads) {
    kept.insert(kept.end(), map.weights.begin() + (head - 1) * size, map.weights.begin() + head * size);
    numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", head);
  }
  map.label += fmt::format(", {} {} of {}", heads.size() == 1 ? "head" : "heads", numbers, map.heads);
  map.heads = std::ssize(heads);
  map.weights = std::move(kept);
}

/// Only these rows, which become a sequence of their own: others may still look at all of theirs.
void keep_rows(Map& map, const Shown& shown, Example& example) {
  const int64_t first = shown.first_row - 1, end = shown.last_row > 0 ? std::min(shown.last_row, map.rows) : map.rows;
  if (first == 0 && end == map.rows) return;
  expect(first < end, "rows {} to {}: {} has {}", shown.first_row, shown.last_row, map.name, map.rows);
  std::vector<float> kept;
  kept.reserve(static_cast<size_t>(map.heads * (end - first) * map.columns));
  for (int64_t h = 0; h < map.heads; ++h)
    kept.insert(kept.end(), map.weights.begin() + (h * map.rows + first) * map.columns,
                map.weights.begin() + (h * map.rows + end) * map.columns);
  const Sequence& all = example.sequence(map.queries);
  Sequence some{fmt::format("{} {}-{}", all.name, first + 1, end),
                fmt::format("{}, {} to {}", all.label, first + 1, end),
                std::vector<std::string>(all.tokens.begin() + first, all.tokens.begin() + end)};
  map.queries = some.name;
  map.rows = end - first;
  map.weights = std::move(kept);
  if (std::none_of(example.sequences.begin(), example.sequences.end(),
                   [&](const Sequence& s) { return s.name == some.name; }))
    example.sequences.push_back(std::move(some));
}

}  // namespace

void keep_chosen(Example& example, const Shown& shown, const std::vector<std::string>& attentions) {
  keep_attentions(example, shown, attentions);
  for (Map& map : example.maps) {
    stop_if_interrupted();
    keep_heads(map, shown.heads);
    keep_rows(map, shown, example);
  }
}

}  // namespace heed::view
