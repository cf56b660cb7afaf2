// What a beam search considered for a sentence, for those who want to look at it.
#pragma once

#include <cstdint>
#include <vector>

namespace heed::search {

/// A hypothesis: its last token, and the node of what comes before.
struct TreeNode {
  int64_t parent = -1;  // -1: this is the first
  int32_t token = 0;
  double log_probability = 0.0;  // of all tokens up to here, which hypotheses are ordered by
  bool kept = false;             // it survived its step
  bool finished = false;         // its token is END, and it was kept
  double score = 0.0;            // of finished ones and of results: what they are ranked by
  int64_t rank = 0;              // among the hypotheses of the result, from 1; 0: it is none of them
  int64_t weights = -1;          // the row of SearchTree::weights: where the step looked that wrote it; -1: not known
};

struct SearchTree {
  std::vector<TreeNode> nodes = {};  // a parent comes before its children; none for an empty source
  /// [steps of hypotheses][source tokens], if Options::alignment asks for them.
  std::vector<std::vector<float>> weights = {};

  /// From the first to `node`, without the first and without `end`.
  std::vector<int32_t> tokens(int64_t node, int32_t end) const;
};

}  // namespace heed::search
