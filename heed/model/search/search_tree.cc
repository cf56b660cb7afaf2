#include "heed/model/search/search_tree.h"

#include <algorithm>
#include <cstddef>

namespace heed::search {

std::vector<int32_t> SearchTree::tokens(int64_t node, int32_t end) const {
  std::vector<int32_t> all;
  for (int64_t at = node; nodes[static_cast<size_t>(at)].parent >= 0; at = nodes[static_cast<size_t>(at)].parent)
    if (const int32_t token = nodes[static_cast<size_t>(at)].token; token != end) all.push_back(token);
  std::reverse(all.begin(), all.end());
  return all;
}

}  // namespace heed::search
