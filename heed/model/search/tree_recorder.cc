#include "heed/model/search/tree_recorder.h"

namespace heed::search {

TreeRecorder::TreeRecorder(SearchTree& tree, int32_t first_token) : tree_(tree) {
  tree_.nodes.push_back({.token = first_token, .kept = true});
}

int64_t TreeRecorder::add(int64_t parent, const Candidate& candidate, int64_t weights) {
  tree_.nodes.push_back({.parent = node_of(parent),
                         .token = candidate.token,
                         .log_probability = candidate.log_probability,
                         .weights = weights});
  return std::ssize(tree_.nodes) - 1;
}

void TreeRecorder::keep(int64_t parent, int64_t link, const Candidate& candidate, int64_t weights) {
  of_.resize(static_cast<size_t>(link) + 1, 0);
  of_[static_cast<size_t>(link)] = add(parent, candidate, weights);
  tree_.nodes.back().kept = true;
}

void TreeRecorder::drop(int64_t parent, const Candidate& candidate, int64_t weights) {
  add(parent, candidate, weights);
}

void TreeRecorder::end(int64_t link, double score, bool finished) {
  TreeNode& node = tree_.nodes[static_cast<size_t>(node_of(link))];
  node.score = score;
  node.finished = finished;
  ended_.push_back(node_of(link));
}

void TreeRecorder::finish(std::span<const Hypothesis> outputs, const Backpointers& backpointers, int32_t end) {
  tree_.weights = backpointers.weights();
  for (size_t rank = 0; rank < outputs.size(); ++rank) {
    const Hypothesis& output = outputs[rank];
    for (const int64_t at : ended_) {  // groups may have found it twice: the first stands for both
      TreeNode& node = tree_.nodes[static_cast<size_t>(at)];
      if (node.rank > 0 || node.score != output.score || node.finished != output.finished ||
          tree_.tokens(at, end) != output.tokens)
        continue;
      node.rank = static_cast<int64_t>(rank) + 1;
      break;
    }
  }
}

}  // namespace heed::search
