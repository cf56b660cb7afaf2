#include "heed/base/random.h"

#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace heed::text {
namespace {

TEST(Random, TheNumbersNeverChange) {
  // Whoever changes these changes what every seed means. They were computed by another program from the definition of
  // splitmix64.
  Random random(0);
  EXPECT_EQ(random.next(), 0xE220A8397B1DCDAFu);
  EXPECT_EQ(random.next(), 0x6E789E6AA1B965F4u);
  EXPECT_EQ(random.next(), 0x06C45D188009454Fu);
}

TEST(Random, StreamsDiffer) {
  EXPECT_NE(Random(1, 0).next(), Random(1, 1).next());
  EXPECT_NE(Random(1, 0).next(), Random(0, 1).next());
  EXPECT_EQ(Random(7, 3).next(), Random(7, 3).next());
}

TEST(Random, BelowIsUniform) {
  Random random(1);
  for (const uint64_t n : {1u, 2u, 3u, 7u, 10u}) {
    std::vector<int> counts(n);
    for (int i = 0; i < 10000; ++i) ++counts.at(random.below(n));
    // Five standard deviations of a binomial.
    for (const int count : counts) EXPECT_NEAR(count, 10000.0 / static_cast<double>(n), 250.0) << n;
  }
}

TEST(Random, EveryOrderIsEquallyLikely) {
  Random random(2);
  std::map<std::vector<int>, int> counts;
  for (int i = 0; i < 24000; ++i) {
    std::vector<int> items = {0, 1, 2, 3};
    random.shuffle(std::span(items));
    ++counts[items];
  }
  EXPECT_EQ(counts.size(), 24u);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 160);
}

TEST(Random, EverySampleIsEquallyLikely) {
  Random random(3);
  std::map<std::vector<size_t>, int> counts;
  for (int i = 0; i < 10000; ++i) ++counts[random.sample(5, 2)];
  EXPECT_EQ(counts.size(), 10u);
  for (const auto& [chosen, count] : counts) {
    EXPECT_NEAR(count, 1000, 150);
    ASSERT_EQ(chosen.size(), 2u);
    EXPECT_LT(chosen[0], chosen[1]);
  }
  EXPECT_EQ(random.sample(3, 10), (std::vector<size_t>{0, 1, 2}));
  EXPECT_TRUE(random.sample(0, 10).empty());
}

}  // namespace
}  // namespace heed::text
