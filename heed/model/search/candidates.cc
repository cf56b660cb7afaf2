#include "heed/model/search/candidates.h"

#include <algorithm>

namespace heed::search {

bool better(const Candidate& a, const Candidate& b) {
  if (a.order_by != b.order_by) return a.order_by > b.order_by;
  return a.open != b.open ? a.open < b.open : a.token < b.token;
}

void choose_best(std::vector<Candidate>& candidates, int64_t width, int32_t end, std::vector<size_t>& chosen) {
  const auto count = std::min(std::ssize(candidates), 2 * width);  // at most `width` of them are END
  std::partial_sort(candidates.begin(), candidates.begin() + count, candidates.end(), better);
  chosen.clear();
  int64_t open = 0;
  for (int64_t rank = 0; rank < count && open < width; ++rank) {
    const bool ends = candidates[static_cast<size_t>(rank)].token == end;
    if (ends && rank >= width) continue;
    chosen.push_back(static_cast<size_t>(rank));
    if (!ends) ++open;
  }
}

void choose_by_banks(std::vector<Candidate>& candidates, int64_t width, int64_t banks, int32_t end,
                     std::vector<size_t>& chosen) {
  std::sort(candidates.begin(), candidates.end(), better);
  std::vector<int64_t> room(static_cast<size_t>(banks), width / banks);
  room.back() += width % banks;
  const int64_t ends_at_most = room.back();
  int64_t left = width, complete = 0;
  std::vector<char> stays(candidates.size(), 0);
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& c = candidates[i];
    if (c.bank == banks - 1) ++complete;
    if (c.token == end) {  // takes no place from an open one
      stays[i] = static_cast<int64_t>(i) < width || complete <= ends_at_most;
    } else if (int64_t& here = room[static_cast<size_t>(c.bank)]; here > 0) {
      stays[i] = 1;
      --here;
      --left;
    }
  }
  for (size_t i = 0; i < candidates.size() && left > 0; ++i)
    if (!stays[i] && candidates[i].token != end) {
      stays[i] = 1;
      --left;
    }
  chosen.clear();
  for (size_t i = 0; i < candidates.size(); ++i)
    if (stays[i]) chosen.push_back(i);
}

std::vector<size_t> best_dropped(const std::vector<Candidate>& candidates, const std::vector<size_t>& chosen,
                                 int64_t most) {
  std::vector<char> stays(candidates.size(), 0);
  for (const size_t i : chosen) stays[i] = 1;
  std::vector<size_t> dropped;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (!stays[i]) dropped.push_back(i);
  const auto count = std::min(std::ssize(dropped), most);
  std::partial_sort(dropped.begin(), dropped.begin() + count, dropped.end(),
                    [&](size_t a, size_t b) { return better(candidates[a], candidates[b]); });
  dropped.resize(static_cast<size_t>(count));
  return dropped;
}

}  // namespace heed::search
