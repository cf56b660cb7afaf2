// The tokens of hypotheses that share prefixes: each token once, with a link back.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/model/search/search.h"

namespace heed::search {

class Backpointers {
 public:
  static constexpr int64_t kStart = -1;  // before the first token

  /// `weights`: from add_weights(), or -1.
  int64_t add(int64_t before, int32_t token, double log_probability, int64_t weights) {
    nodes_.push_back({before, weights, log_probability, token});
    return std::ssize(nodes_) - 1;
  }
  /// Where a step looked: shared by all tokens that may follow.
  int64_t add_weights(std::vector<float> weights) {
    weights_.push_back(std::move(weights));
    return std::ssize(weights_) - 1;
  }

  const std::vector<std::vector<float>>& weights() const { return weights_; }

  /// The tokens up to `last`, without END.
  std::vector<int32_t> tokens(int64_t last, int32_t end) const;
  /// The tokens up to `last`; END, if it is the last, only sets finished.
  Hypothesis hypothesis(int64_t last, int32_t end, double log_probability, double score) const;

 private:
  struct Node {
    int64_t before, weights;
    double log_probability;
    int32_t token;
  };
  std::vector<Node> nodes_;
  std::vector<std::vector<float>> weights_;
};

}  // namespace heed::search
