#include "heed/model/search/phrases.h"

#include <utility>

#include "heed/base/error.h"

namespace heed::search {

Phrases::Phrases(std::vector<std::vector<int32_t>> phrases) : phrases_(std::move(phrases)), nodes_(1) {
  std::vector<int32_t> parents = {0}, tokens = {0};  // of each node
  for (size_t p = 0; p < phrases_.size(); ++p) {
    expect(!phrases_[p].empty(), "search: phrase {} has no tokens", p);
    const auto number = static_cast<int32_t>(p);
    int32_t node = 0;
    nodes_[0].through.push_back(number);
    for (const int32_t token : phrases_[p]) {
      const auto [found, is_new] = edges_.try_emplace(edge(node, token), static_cast<int32_t>(nodes_.size()));
      if (is_new) {
        nodes_.push_back({.shorter = 0, .depth = at(node).depth + 1, .complete = {}, .completing = {}, .through = {}});
        parents.push_back(node);
        tokens.push_back(token);
      }
      node = found->second;
      nodes_[static_cast<size_t>(node)].through.push_back(number);
    }
    nodes_[static_cast<size_t>(node)].complete.push_back(number);
  }
  // The shorter nodes first: what is known of them is used for the longer ones.
  std::vector<std::vector<size_t>> by_depth;
  for (size_t n = 1; n < nodes_.size(); ++n) {
    const auto depth = static_cast<size_t>(nodes_[n].depth);
    if (by_depth.size() <= depth) by_depth.resize(depth + 1);
    by_depth[depth].push_back(n);
  }
  for (const std::vector<size_t>& level : by_depth)
    for (const size_t n : level) {
      const int32_t parent = parents[n];
      if (parent != 0) nodes_[n].shorter = next(at(parent).shorter, tokens[n]);
      if (!nodes_[n].complete.empty()) nodes_[static_cast<size_t>(parent)].completing.push_back(tokens[n]);
    }
}

int32_t Phrases::next(int32_t node, int32_t token) const {
  for (;; node = at(node).shorter) {
    if (const auto found = edges_.find(edge(node, token)); found != edges_.end()) return found->second;
    if (node == 0) return 0;
  }
}

}  // namespace heed::search
