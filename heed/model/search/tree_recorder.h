// Writes down what a beam search considers: see SearchTree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/model/search/backpointers.h"
#include "heed/model/search/candidates.h"
#include "heed/model/search/search_tree.h"

namespace heed::search {

/// Nodes of the search itself, which are numbers of Backpointers, are called `link` here.
class TreeRecorder {
 public:
  /// `tree` must outlive this.
  TreeRecorder(SearchTree& tree, int32_t first_token);

  /// A candidate after `parent` that survives as `link`. `weights`: of its step, as in Backpointers.
  void keep(int64_t parent, int64_t link, const Candidate& candidate, int64_t weights);
  /// One that does not.
  void drop(int64_t parent, const Candidate& candidate, int64_t weights);
  /// What was kept has ended: `finished`, or because no steps are left.
  void end(int64_t link, double score, bool finished);
  /// After the search. `outputs`: its result.
  void finish(std::span<const Hypothesis> outputs, const Backpointers& backpointers, int32_t end);

 private:
  int64_t node_of(int64_t link) const { return link == Backpointers::kStart ? 0 : of_[static_cast<size_t>(link)]; }
  int64_t add(int64_t parent, const Candidate& candidate, int64_t weights);

  SearchTree& tree_;
  std::vector<int64_t> of_;     // [links] their nodes
  std::vector<int64_t> ended_;  // nodes
};

}  // namespace heed::search
