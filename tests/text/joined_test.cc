#include "heed/text/joined.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

namespace heed::text {
namespace {

using Merges = std::map<std::pair<int32_t, int32_t>, Join>;

std::vector<int32_t> by_merges(const std::vector<int32_t>& pieces, const Merges& merges) {
  return joined(pieces, [&](int32_t left, int32_t right) -> std::optional<Join> {
    const auto found = merges.find({left, right});
    if (found == merges.end()) return std::nullopt;
    return found->second;
  });
}

/// As it is defined: look through all pairs, join the best, and begin again.
std::vector<int32_t> slowly(std::vector<int32_t> pieces, const Merges& merges) {
  while (true) {
    size_t best = 0;
    const Join* join = nullptr;
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      const auto found = merges.find({pieces[i], pieces[i + 1]});
      if (found != merges.end() && (!join || found->second.rank < join->rank)) best = i, join = &found->second;
    }
    if (!join) return pieces;
    pieces[best] = join->piece;
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

TEST(Joined, NothingAndOne) {
  EXPECT_EQ(by_merges({}, {}), std::vector<int32_t>{});
  EXPECT_EQ(by_merges({7}, {}), std::vector<int32_t>{7});
}

TEST(Joined, OfEqualRanksTheFirst) {
  const Merges merges = {{{1, 1}, {0.0, 2}}};
  EXPECT_EQ(by_merges({1, 1, 1}, merges), (std::vector<int32_t>{2, 1}));
  EXPECT_EQ(by_merges({1, 1, 1, 1, 1}, merges), (std::vector<int32_t>{2, 2, 1}));
}

TEST(Joined, AsItIsDefined) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    Merges merges;
    for (int32_t made = 3; made < 12; ++made)
      merges.insert({{static_cast<int32_t>(random() % static_cast<unsigned>(made)),
                      static_cast<int32_t>(random() % static_cast<unsigned>(made))},
                     {static_cast<double>(random() % 6), made}});
    std::vector<int32_t> pieces(random() % 30);
    for (int32_t& piece : pieces) piece = static_cast<int32_t>(random() % 3);
    EXPECT_EQ(by_merges(pieces, merges), slowly(pieces, merges)) << round;
  }
}

}  // namespace
}  // namespace heed::text
