#include "heed/text/metric/ter_edits.h"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "heed/text/metric/edit_distance.h"

namespace heed::metric {
namespace {

using Words = std::vector<int32_t>;

TEST(TerEdits, Known) {
  EXPECT_EQ(ter_edits(Words{}, Words{}), 0);
  EXPECT_EQ(ter_edits(Words{}, Words{1, 2}), 2);
  EXPECT_EQ(ter_edits(Words{1, 2, 3}, Words{}), 3);
  EXPECT_EQ(ter_edits(Words{1, 2, 3}, Words{1, 2, 3}), 0);
  EXPECT_EQ(ter_edits(Words{4, 5, 6, 1, 2, 3}, Words{1, 2, 3, 4, 5, 6}), 1);  // one run moves
  EXPECT_EQ(ter_edits(Words{2, 1, 4, 3}, Words{1, 2, 3, 4}), 2);
  EXPECT_EQ(ter_edits(Words{3, 9, 1, 2}, Words{1, 2, 3, 4}), 2);  // 3 9 moves, 9 becomes 4
}

/// The fewest edits of all, by breadth first over shifts of any run to any place.
int64_t fewest(const Words& hypothesis, const Words& reference) {
  int64_t best = edit_distance(reference, hypothesis).total();
  std::map<Words, int64_t> shifts = {{hypothesis, 0}};
  std::deque<Words> open = {hypothesis};
  while (!open.empty()) {
    const Words words = open.front();
    open.pop_front();
    const int64_t made = shifts[words];
    best = std::min(best, made + edit_distance(reference, words).total());
    if (made + 1 >= best) continue;
    const auto n = static_cast<int64_t>(words.size());
    for (int64_t from = 0; from < n; ++from)
      for (int64_t end = from + 1; end <= n; ++end)
        for (int64_t to = end + 1; to <= n; ++to) {  // moving a run right is moving the other one left
          Words moved = words;
          std::rotate(moved.begin() + from, moved.begin() + end, moved.begin() + to);
          if (shifts.try_emplace(moved, made + 1).second) open.push_back(moved);
        }
  }
  return best;
}

// The search never looks back: it finds at least the fewest edits, at most those without shifts, and mostly the fewest.
TEST(TerEdits, BetweenTheFewestAndNoShifts) {
  text::Random random(11);
  int64_t same = 0;
  const int64_t rounds = 300;
  for (int64_t round = 0; round < rounds; ++round) {
    Words a(random.below(7)), b(1 + random.below(6));
    for (auto* words : {&a, &b})
      for (int32_t& word : *words) word = static_cast<int32_t>(random.below(5));
    const int64_t found = ter_edits(a, b), best = fewest(a, b);
    ASSERT_GE(found, best);
    ASSERT_LE(found, edit_distance(b, a).total());
    same += found == best;
  }
  EXPECT_GT(same, rounds * 9 / 10);
}

// 20,000 words: memory for the cells near the diagonal alone, and a trial stops where it changes nothing any more.
// Words that stand elsewhere move, one edit each; a word that nobody knows is another.
TEST(TerEdits, VeryLong) {
  Words reference(20'000);
  for (size_t i = 0; i < reference.size(); ++i) reference[i] = static_cast<int32_t>(i);
  Words said = reference;
  for (size_t i = 0; i < 6; ++i) std::rotate(&said[900 * i], &said[900 * i + 3], &said[900 * i + 9]);
  for (size_t i = 0; i < 50; ++i) said[900 + 300 * i + 100] = -1;
  EXPECT_EQ(ter_edits(said, reference), 6 + 50);
}

}  // namespace
}  // namespace heed::metric
