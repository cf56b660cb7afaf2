#include "heed/model/search/backpointers.h"

#include <algorithm>

namespace heed::search {

std::vector<int32_t> Backpointers::tokens(int64_t last, int32_t end) const {
  std::vector<int32_t> all;
  for (int64_t at = last; at != kStart; at = nodes_[static_cast<size_t>(at)].before)
    if (const int32_t token = nodes_[static_cast<size_t>(at)].token; token != end) all.push_back(token);
  std::reverse(all.begin(), all.end());
  return all;
}

Hypothesis Backpointers::hypothesis(int64_t last, int32_t end, double log_probability, double score) const {
  Hypothesis h{.tokens = tokens(last, end), .log_probability = log_probability, .score = score};
  for (int64_t at = last; at != kStart; at = nodes_[static_cast<size_t>(at)].before) {
    const Node& node = nodes_[static_cast<size_t>(at)];
    if (at == last) h.finished = node.token == end;
    h.token_log_probabilities.push_back(static_cast<float>(node.log_probability));
    if (node.weights >= 0) h.alignment.push_back(weights_[static_cast<size_t>(node.weights)]);
  }
  std::reverse(h.token_log_probabilities.begin(), h.token_log_probabilities.end());
  std::reverse(h.alignment.begin(), h.alignment.end());
  return h;
}

}  // namespace heed::search
