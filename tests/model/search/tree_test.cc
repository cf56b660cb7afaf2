// The search tree: what a beam search considered, against its results and against everything that could be said.
#include <map>
#include <set>

#include "heed/model/search/search_tree.h"
#include "tests/model/search/enumeration.h"
#include "tests/model/search/found.h"

namespace heed::search::test {
namespace {

int64_t depth_of(const SearchTree& tree, int64_t node) {
  int64_t depth = 0;
  for (; tree.nodes[static_cast<size_t>(node)].parent >= 0; node = tree.nodes[static_cast<size_t>(node)].parent)
    ++depth;
  return depth;
}

/// What holds for every tree.
void expect_sound(const SearchTree& tree, const Options& o) {
  ASSERT_FALSE(tree.nodes.empty());
  EXPECT_EQ(tree.nodes[0].parent, -1);
  EXPECT_TRUE(tree.nodes[0].kept);
  std::map<int64_t, int64_t> kept, dropped;  // by step
  for (int64_t i = 1; i < std::ssize(tree.nodes); ++i) {
    const TreeNode& node = tree.nodes[static_cast<size_t>(i)];
    ASSERT_GE(node.parent, 0);
    ASSERT_LT(node.parent, i);
    const TreeNode& parent = tree.nodes[static_cast<size_t>(node.parent)];
    EXPECT_TRUE(parent.kept);
    EXPECT_FALSE(parent.finished);
    EXPECT_LE(node.log_probability, parent.log_probability);
    EXPECT_TRUE(node.kept || (!node.finished && node.rank == 0));
    EXPECT_EQ(node.finished, node.kept && node.token == o.end);
    if (!node.kept) ++dropped[depth_of(tree, i)];
    if (node.kept && node.token != o.end) ++kept[depth_of(tree, i)];
    EXPECT_EQ(node.weights >= 0, o.alignment);
  }
  for (const auto& [step, count] : kept) EXPECT_LE(count, o.beam) << "step " << step;
  for (const auto& [step, count] : dropped) EXPECT_LE(count, o.beam) << "step " << step;
}

/// Those with a rank are the hypotheses of the result, and no other finished one is better.
void expect_outputs(const SearchTree& tree, const Result& result, const Options& o) {
  std::set<int64_t> ranks;
  for (int64_t i = 0; i < std::ssize(tree.nodes); ++i) {
    const TreeNode& node = tree.nodes[static_cast<size_t>(i)];
    if (node.rank == 0) {
      EXPECT_TRUE(!node.finished || node.score <= result.hypotheses.back().score || o.groups > 1);
      continue;
    }
    ASSERT_LE(node.rank, std::ssize(result.hypotheses));
    EXPECT_TRUE(ranks.insert(node.rank).second);
    const Hypothesis& h = result.hypotheses[static_cast<size_t>(node.rank - 1)];
    EXPECT_EQ(tree.tokens(i, o.end), h.tokens);
    EXPECT_EQ(node.score, h.score);
    EXPECT_EQ(node.log_probability, h.log_probability);
    EXPECT_EQ(node.finished, h.finished);
    for (int64_t at = i, step = std::ssize(h.alignment); step-- > 0; at = tree.nodes[static_cast<size_t>(at)].parent)
      EXPECT_EQ(tree.weights[static_cast<size_t>(tree.nodes[static_cast<size_t>(at)].weights)],
                h.alignment[static_cast<size_t>(step)]);
  }
  EXPECT_EQ(ranks.size(), result.hypotheses.size());
}

TEST(SearchTree, HoldsTheResultAndChangesNothing) {
  size_t unfinished = 0;
  for (const char* kind : {"rnn", "transformer"})
    for (const float favour : {0.0f, 2.0f}) {
      Decided made(model::test::small(kind));
      made.favour(kEnd, favour);
      for (Options o :
           {Options{.beam = 4, .nbest = 4}, Options{.beam = 4, .nbest = 1, .alpha = 0.8},
            Options{.beam = 5, .nbest = 2, .alpha = 0.6, .beta = 0.2}, Options{.beam = 6, .nbest = 3, .groups = 3},
            Options{.beam = 2, .no_repeat_ngram = 1}, Options{.beam = 1}})
        for (const auto& source : ragged_sources()) {
          o.longest = 7;
          o.alignment = true;
          const Texts texts({source});
          const Result right = find(made.model, texts, o).front();
          SearchTree tree;
          o.tree = &tree;
          const Result found = find(made.model, texts, o).front();
          o.tree = nullptr;
          // Greedy search adds up its numbers in another order.
          ASSERT_NO_FATAL_FAILURE(expect_same(found, right, o.beam == 1 ? 1e-6 : 0.0));
          ASSERT_NO_FATAL_FAILURE(expect_sound(tree, o));
          ASSERT_NO_FATAL_FAILURE(expect_outputs(tree, found, o));
          for (const std::vector<float>& row : tree.weights) EXPECT_EQ(row.size(), source.size());
          unfinished += found.best().finished ? 0u : 1u;
        }
    }
  EXPECT_GT(unfinished, 0u);
}

/// At each step: the log-probabilities are the model's, and what is left out is worse than all that was dropped.
TEST(SearchTree, HoldsTheBestCandidates) {
  constexpr int32_t kTokens = 5;
  for (const uint64_t seed : {1, 2, 3}) {
    const FixedGenerator generator(kTokens, seed);
    const std::vector<int32_t> source = {7, 4};
    const Texts texts({source});
    SearchTree tree;
    const Options o{.longest = 5, .beam = 4, .tree = &tree};
    Tape tape(kQuiet);
    search(generator, tape, texts.view(), o);
    std::map<int64_t, std::vector<double>> dropped, left_out;  // by step
    std::set<std::pair<int64_t, int32_t>> there;
    for (const TreeNode& node : tree.nodes) there.insert({node.parent, node.token});
    std::set<int64_t> parents;
    for (int64_t i = 1; i < std::ssize(tree.nodes); ++i) {
      const TreeNode& node = tree.nodes[static_cast<size_t>(i)];
      parents.insert(node.parent);
      if (!node.kept) dropped[depth_of(tree, i)].push_back(node.log_probability);
    }
    int64_t deepest = 0;
    for (const int64_t parent : parents) deepest = std::max(deepest, depth_of(tree, parent));
    for (int64_t i = 0; i < std::ssize(tree.nodes); ++i) {
      const TreeNode& node = tree.nodes[static_cast<size_t>(i)];
      if (!node.kept || node.finished || depth_of(tree, i) > deepest) continue;
      const std::vector<double> p = log_probabilities(generator.logits_after(source, tree.tokens(i, kEnd)));
      for (int32_t v = 0; v < kTokens; ++v)
        if (!there.contains({i, v}))
          left_out[depth_of(tree, i) + 1].push_back(node.log_probability + p[static_cast<size_t>(v)]);
      for (const TreeNode& child : tree.nodes) {
        if (child.parent != i) continue;
        EXPECT_NEAR(child.log_probability, node.log_probability + p[static_cast<size_t>(child.token)], 1e-5);
      }
    }
    EXPECT_FALSE(left_out.empty());
    for (const auto& [step, worse] : left_out) {
      ASSERT_EQ(dropped[step].size(), 4u) << step;
      const double least = *std::min_element(dropped[step].begin(), dropped[step].end());
      for (const double p : worse) EXPECT_LE(p, least + 1e-9) << step;
    }
  }
}

TEST(SearchTree, GreedySearchHasOnePath) {
  const FixedGenerator generator(6, 11);
  const Texts texts({{5, 6, 7}});
  Tape tape(kQuiet);
  Options o{.longest = 9, .alpha = 2.0};  // with which a beam of one would look beyond the first END
  const Result right = search(generator, tape, texts.view(), o).front();
  SearchTree tree;
  o.tree = &tree;
  expect_same(search(generator, tape, texts.view(), o).front(), right, 1e-6);
  const auto kept = std::count_if(tree.nodes.begin(), tree.nodes.end(), [](const TreeNode& n) { return n.kept; });
  EXPECT_EQ(kept, 1 + std::ssize(right.best().token_log_probabilities));
}

TEST(SearchTree, IsOfOneSentenceThatIsSearched) {
  const Decided made(model::test::small("rnn"));
  SearchTree tree;
  EXPECT_THROW(find(made.model, Texts(ragged_sources()), {.beam = 2, .tree = &tree}), Error);
  EXPECT_THROW(find(made.model, Texts({{3, 4, 5}}), {.sample = true, .tree = &tree}), Error);
  find(made.model, Texts({{3, 4, 5}}), {.beam = 2, .tree = &tree});
  EXPECT_FALSE(tree.nodes.empty());
  find(made.model, Texts(std::vector<std::vector<int32_t>>{{}}), {.beam = 2, .tree = &tree});
  EXPECT_TRUE(tree.nodes.empty());  // nothing of the last one stays
}

}  // namespace
}  // namespace heed::search::test
