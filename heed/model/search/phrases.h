// Sequences of tokens that are looked for in a growing text, all at once: the automaton of Aho and Corasick 1975.
//
// A node stands for the longest end of the text that begins one of the phrases; node 0 stands for none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace heed::search {

/// Threads: many may read it at once.
class Phrases {
 public:
  Phrases() : Phrases(std::vector<std::vector<int32_t>>()) {}
  /// None of them may be empty.
  explicit Phrases(std::vector<std::vector<int32_t>> phrases);

  bool empty() const { return phrases_.empty(); }
  int64_t count() const { return std::ssize(phrases_); }
  const std::vector<int32_t>& phrase(int64_t p) const { return phrases_[static_cast<size_t>(p)]; }

  /// The node after one more token.
  int32_t next(int32_t node, int32_t token) const;

  /// visit(p) for each phrase that the text of a node ends with.
  template <class Visit>
  void each_complete(int32_t node, const Visit& visit) const {
    for (; node != 0; node = at(node).shorter)
      for (const int32_t p : at(node).complete) visit(int64_t{p});
  }
  /// visit(token) for each token that would complete a phrase; some may come twice.
  template <class Visit>
  void each_completing(int32_t node, const Visit& visit) const {
    for (;; node = at(node).shorter) {
      for (const int32_t token : at(node).completing) visit(token);
      if (node == 0) return;
    }
  }
  /// visit(p, n): the text of a node ends with the first n tokens of phrase p. The largest n of a phrase comes first;
  /// n is 0 for all of them at the end.
  template <class Visit>
  void each_begun(int32_t node, const Visit& visit) const {
    for (;; node = at(node).shorter) {
      for (const int32_t p : at(node).through) visit(int64_t{p}, at(node).depth);
      if (node == 0) return;
    }
  }

 private:
  struct Node {
    int32_t shorter = 0;              // the node of the longest end of its tokens that is a node too
    int64_t depth = 0;                // its tokens
    std::vector<int32_t> complete;    // phrases that are just its tokens
    std::vector<int32_t> completing;  // tokens that lead from here to such a node
    std::vector<int32_t> through;     // phrases that begin with its tokens
  };
  const Node& at(int32_t node) const { return nodes_[static_cast<size_t>(node)]; }
  static uint64_t edge(int32_t node, int32_t token) {
    return static_cast<uint64_t>(node) << 32 | static_cast<uint32_t>(token);
  }

  std::vector<std::vector<int32_t>> phrases_;
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, int32_t> edges_;  // (node, token) -> node
};

}  // namespace heed::search
