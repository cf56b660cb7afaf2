#include "heed/search/backpointers.h"

#include <algorithm>

namespace heed::search {

Hypothesis Backpointers::hypothesis(int64_t last, int32_t end, double log_probability, double score) const {
  Hypothesis h{.log_probability = log_probability, .score = score};
  for (int64_t at = last; at != kStart; at = nodes_[static_cast<size_t>(at)].before) {
    const Node& node = nodes_[static_cast<size_t>(at)];
    if (at == last && node.token == end)
      h.finished = true;
    else
      h.tokens.push_back(node.token);
    h.token_log_probabilities.push_back(static_cast<float>(node.log_probability));
    if (node.weights >= 0) h.alignment.push_back(weights_[static_cast<size_t>(node.weights)]);
  }
  std::reverse(h.tokens.begin(), h.tokens.end());
  std::reverse(h.token_log_probabilities.begin(), h.token_log_probabilities.end());
  std::reverse(h.alignment.begin(), h.alignment.end());
  return h;
}

}  // namespace heed::search
