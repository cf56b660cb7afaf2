#include "heed/text/metric/confusion.h"

#include <map>
#include <numeric>

#include "heed/text/metric/check.h"
#include "heed/text/metric/f1.h"
#include "heed/text/words.h"

namespace heed::metric {

int64_t Confusion::texts(size_t right) const {
  return std::accumulate(counts[right].begin(), counts[right].end(), int64_t{0});
}

Confusion confusion(std::span<const std::string> hypotheses, std::span<const Texts> references) {
  expect_references(hypotheses, references);
  std::map<std::pair<std::string, std::string>, int64_t> pairs;
  std::map<std::string, size_t> place;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const std::string right(text::without_blanks_around(right_labels(hypotheses[i], references[i], "")));
    const std::string given(text::without_blanks_around(hypotheses[i]));
    ++pairs[{right, given}];
    place.emplace(right, 0);
    place.emplace(given, 0);
  }
  Confusion c;
  for (auto& [label, at] : place) {
    at = c.labels.size();
    c.labels.push_back(label);
  }
  c.counts.assign(c.labels.size(), std::vector<int64_t>(c.labels.size()));
  for (const auto& [pair, count] : pairs) c.counts[place[pair.first]][place[pair.second]] = count;
  return c;
}

}  // namespace heed::metric
