// Which row of the next step each surviving hypothesis takes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace heed::search {

/// `next`: hypotheses that survived, `parents`: of each the place that it came from, `places`: how many there were. The
/// first child of each takes its place, so that nothing is copied for it; other children take the places of those that
/// have none.
template <class Open>
void keep_places(std::vector<Open>& next, std::vector<size_t>& parents, size_t places) {
  constexpr auto kNobody = static_cast<size_t>(-1);
  std::vector<size_t> order(std::max(next.size(), places), kNobody);
  std::vector<size_t> others;
  for (size_t i = 0; i < next.size(); ++i) {
    if (parents[i] < next.size() && order[parents[i]] == kNobody)
      order[parents[i]] = i;
    else
      others.push_back(i);
  }
  order.resize(next.size());
  size_t taken = 0;
  for (size_t& who : order)
    if (who == kNobody) who = others[taken++];
  std::vector<Open> placed;
  std::vector<size_t> parents_placed;
  for (const size_t who : order) {
    placed.push_back(std::move(next[who]));
    parents_placed.push_back(parents[who]);
  }
  next = std::move(placed);
  parents = std::move(parents_placed);
}

}  // namespace heed::search
