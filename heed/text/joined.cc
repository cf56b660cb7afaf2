#include "heed/text/joined.h"

#include <cstddef>
#include <queue>
#include <tuple>

namespace heed::text {

namespace {

constexpr int64_t kNone = -1;

/// A piece that stands between two others; taken from the row when its left neighbour takes it in.
struct Link {
  int32_t piece;
  int64_t before, after;
  bool there = true;
};

/// A pair that could be joined when it was found.
struct Candidate {
  Join join;
  int64_t at;
  int32_t left, right;

  /// A priority queue has the largest on top.
  bool operator<(const Candidate& other) const { return std::tie(join.rank, at) > std::tie(other.join.rank, other.at); }
};

}  // namespace

std::vector<int32_t> joined(const std::vector<int32_t>& pieces,
                            const std::function<std::optional<Join>(int32_t, int32_t)>& find) {
  const auto count = static_cast<int64_t>(pieces.size());
  std::vector<Link> links;
  links.reserve(pieces.size());
  for (int64_t i = 0; i < count; ++i)
    links.push_back({pieces[static_cast<size_t>(i)], i - 1, i + 1 < count ? i + 1 : kNone});
  const auto link = [&](int64_t i) -> Link& { return links[static_cast<size_t>(i)]; };
  std::priority_queue<Candidate> candidates;
  const auto look = [&](int64_t at) {
    if (at == kNone || link(at).after == kNone) return;
    const int32_t left = link(at).piece, right = link(link(at).after).piece;
    if (const auto join = find(left, right)) candidates.push({*join, at, left, right});
  };
  for (int64_t i = 0; i < count; ++i) look(i);
  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    Link& left = link(best.at);
    const bool still =
        left.there && left.piece == best.left && left.after != kNone && link(left.after).piece == best.right;
    if (!still) continue;
    Link& right = link(left.after);
    right.there = false;
    left.piece = best.join.piece;
    left.after = right.after;
    if (right.after != kNone) link(right.after).before = best.at;
    look(left.before);
    look(best.at);
  }
  std::vector<int32_t> result;
  for (const Link& each : links)
    if (each.there) result.push_back(each.piece);
  return result;
}

}  // namespace heed::text
