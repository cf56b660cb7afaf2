#include "heed/metric/edit_distance.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "heed/text/random.h"
#include "heed/text/words.h"

namespace heed::metric {
namespace {

using Ids = std::vector<int32_t>;

/// All ways to turn one into the other, tried one by one.
Edits by_brute_force(std::span<const int32_t> a, std::span<const int32_t> b) {
  if (a.empty()) return {0, static_cast<int64_t>(b.size()), 0};
  if (b.empty()) return {0, 0, static_cast<int64_t>(a.size())};
  Edits keep = by_brute_force(a.subspan(1), b.subspan(1));
  keep.substitutions += a[0] != b[0];
  Edits add = by_brute_force(a, b.subspan(1));
  ++add.insertions;
  Edits remove = by_brute_force(a.subspan(1), b);
  ++remove.deletions;
  return std::min({keep, add, remove}, [](const Edits& x, const Edits& y) {
    return x.total() != y.total() ? x.total() < y.total() : x.substitutions > y.substitutions;
  });
}

TEST(EditDistance, Known) {
  const auto between = [](std::string_view a, std::string_view b) { return edit_distance(words_of(a), words_of(b)); };
  EXPECT_EQ(between("", ""), (Edits{0, 0, 0}));
  EXPECT_EQ(between("a b c", "a b c"), (Edits{0, 0, 0}));
  EXPECT_EQ(between("a b c", "a x c"), (Edits{1, 0, 0}));
  EXPECT_EQ(between("a b c", "a c"), (Edits{0, 0, 1}));
  EXPECT_EQ(between("a c", "a b c"), (Edits{0, 1, 0}));
  EXPECT_EQ(between("", "a b"), (Edits{0, 2, 0}));
  EXPECT_EQ(between("a b", ""), (Edits{0, 0, 2}));
  EXPECT_EQ(between("a b", "b a"), (Edits{2, 0, 0}));
  EXPECT_EQ(between("k i t t e n", "s i t t i n g"), (Edits{2, 1, 0}));
}

TEST(EditDistance, AgainstBruteForce) {
  Random random(5);
  for (int round = 0; round < 500; ++round) {
    Ids a(random.below(7)), b(random.below(7));
    for (auto* ids : {&a, &b})
      for (int32_t& id : *ids) id = static_cast<int32_t>(random.below(3));
    const Edits found = edit_distance(a, b), expected = by_brute_force(a, b);
    ASSERT_EQ(found.substitutions, expected.substitutions);
    ASSERT_EQ(found.insertions, expected.insertions);
    ASSERT_EQ(found.deletions, expected.deletions);
  }
}

TEST(EditDistance, Long) {
  Ids a(3000), b;
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int32_t>(i);
  b = a;
  b[100] = -1;
  b.erase(b.begin() + 2000);
  b.push_back(7);
  EXPECT_EQ(edit_distance(a, b), (Edits{1, 1, 1}));
}

}  // namespace
}  // namespace heed::metric
