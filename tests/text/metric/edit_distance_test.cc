#include "heed/text/metric/edit_distance.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "heed/base/random.h"
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
  const auto between = [](std::string_view a, std::string_view b) {
    return edit_distance(text::words_of(a), text::words_of(b));
  };
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
  text::Random random(5);
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

/// The whole table, row by row.
Edits by_table(const Ids& reference, const Ids& hypothesis) {
  const auto better = [](const Edits& x, const Edits& y) {
    return x.total() != y.total() ? x.total() < y.total() : x.substitutions > y.substitutions;
  };
  std::vector<Edits> row(hypothesis.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j].insertions = static_cast<int64_t>(j);
  for (size_t i = 1; i <= reference.size(); ++i) {
    Edits diagonal = row[0];
    row[0].deletions = static_cast<int64_t>(i);
    for (size_t j = 1; j < row.size(); ++j) {
      Edits kept = diagonal, deleted = row[j], inserted = row[j - 1];
      kept.substitutions += reference[i - 1] != hypothesis[j - 1];
      ++deleted.deletions;
      ++inserted.insertions;
      diagonal = row[j];
      row[j] = std::min({kept, deleted, inserted}, better);
    }
  }
  return row.back();
}

// From nearly the same to nothing in common, of any two lengths: whatever the band that was needed.
TEST(EditDistance, AgainstTheWholeTable) {
  text::Random random(6);
  for (int round = 0; round < 200; ++round) {
    const uint64_t kinds = 2 + random.below(40), faults = 1 + random.below(12);
    Ids a(random.below(400)), b;
    for (int32_t& id : a) id = static_cast<int32_t>(random.below(kinds));
    for (const int32_t id : a) {
      const uint64_t what = random.below(4 * faults);
      if (what != 0) b.push_back(what == 1 ? static_cast<int32_t>(random.below(kinds)) : id);
      if (what == 2) b.resize(b.size() + random.below(30), 1);
    }
    if (round % 5 == 0) b.resize(random.below(400));
    ASSERT_EQ(edit_distance(a, b), by_table(a, b)) << a.size() << " and " << b.size() << " tokens";
    ASSERT_EQ(edit_distance(b, a), by_table(b, a)) << b.size() << " and " << a.size() << " tokens";
  }
}

// 40,000 characters: 1.6 billion cells, of which a text that is nearly right needs few.
TEST(EditDistance, VeryLong) {
  text::Random random(7);
  Ids a(40'000);
  for (int32_t& id : a) id = static_cast<int32_t>(random.below(30));
  Ids b = a;
  for (size_t i = 0; i < 500; ++i) b[80 * i] = -1;
  b.erase(b.begin() + 20'001);
  b.insert(b.begin() + 30'000, {-2, -2});
  EXPECT_EQ(edit_distance(a, b), (Edits{500, 2, 1}));
}

}  // namespace
}  // namespace heed::metric
