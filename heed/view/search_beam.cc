#include "heed/view/search_beam.h"

#include <algorithm>
#include <cstddef>

#include "heed/data/copied_words.h"

namespace heed::view {

Beam beam_of(const search::SearchTree& tree, const text::Tokeniser& target, const Sequence* keys,
             std::span<const std::string> copied) {
  Beam beam;
  for (const search::TreeNode& node : tree.nodes)
    beam.nodes.push_back({.parent = node.parent,
                          .token = data::spell_copied(target, node.token, copied),
                          .score = node.log_probability,
                          .kept = node.kept,
                          .finished = node.finished,
                          .ranked_by = node.score,
                          .rank = node.rank});
  const size_t columns = keys ? keys->tokens.size() : 0;
  const bool fits = std::all_of(tree.weights.begin(), tree.weights.end(),
                                [&](const std::vector<float>& row) { return row.size() == columns; });
  if (columns == 0 || tree.weights.empty() || !fits) return beam;
  beam.keys = keys->name;
  beam.weights.reserve(tree.nodes.size() * columns);
  const std::vector<float> nothing(columns, 0.0f);
  for (const search::TreeNode& node : tree.nodes) {
    const std::vector<float>& row = node.weights < 0 ? nothing : tree.weights[static_cast<size_t>(node.weights)];
    beam.weights.insert(beam.weights.end(), row.begin(), row.end());
  }
  return beam;
}

}  // namespace heed::view
