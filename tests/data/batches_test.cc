#include "heed/data/batches.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "heed/data/examples.h"
#include "tests/base/folder.h"

namespace heed::data {
namespace {

Lengths random_lengths(size_t count, uint64_t longest, uint64_t seed) {
  text::Random random(seed);
  Lengths lengths;
  for (size_t i = 0; i < count; ++i) {
    lengths.source.push_back(1 + static_cast<int64_t>(random.below(longest)));
    lengths.target.push_back(1 + static_cast<int64_t>(random.below(longest)));
  }
  return lengths;
}

int64_t sum(const Indices& batch, const std::vector<int64_t>& lengths) {
  int64_t total = 0;
  for (const int64_t i : batch) total += lengths[static_cast<size_t>(i)];
  return total;
}

std::vector<int64_t> flat(const std::vector<Indices>& batches) {
  std::vector<int64_t> all;
  for (const Indices& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

TEST(Batches, EveryExampleOnceAndWithinTheLimits) {
  text::Random random(4);
  for (int round = 0; round < 200; ++round) {
    const Lengths lengths = random_lengths(random.below(300), 1 + random.below(60), random.next());
    const BatchOptions options{.max_tokens = 1 + static_cast<int64_t>(random.below(200)),
                               .max_examples = static_cast<int64_t>(random.below(5)),
                               .window = 1 + static_cast<int64_t>(random.below(100)),
                               .shuffle = random.chance(80),
                               .seed = random.next()};
    const auto batches = make_batches(lengths, options, round);
    auto all = flat(batches);
    std::sort(all.begin(), all.end());
    std::vector<int64_t> expected(lengths.source.size());
    std::iota(expected.begin(), expected.end(), 0);
    ASSERT_EQ(all, expected);
    for (const Indices& batch : batches) {
      ASSERT_FALSE(batch.empty());
      const auto most = options.max_examples > 0 ? static_cast<size_t>(options.max_examples) : batch.size();
      ASSERT_LE(batch.size(), most);
      if (batch.size() == 1) continue;  // an example that is too long for the limit stands alone
      ASSERT_LE(sum(batch, lengths.source), options.max_tokens);
      ASSERT_LE(sum(batch, lengths.target), options.max_tokens);
    }
  }
}

TEST(Batches, AFunctionOfSeedAndEpoch) {
  const Lengths lengths = random_lengths(500, 30, 1);
  const auto order = [&](uint64_t seed, int64_t epoch) {
    return make_batches(lengths, {.max_tokens = 100, .window = 200, .seed = seed}, epoch);
  };
  EXPECT_EQ(order(1, 5), order(1, 5));
  EXPECT_NE(order(1, 5), order(1, 6));
  EXPECT_NE(order(1, 5), order(2, 5));
  EXPECT_NE(order(1, 2), order(2, 1));
}

TEST(Batches, TheOrderNeverChanges) {
  // A run that is taken up again with a later version must find the same batches: these were noted once.
  const Lengths lengths{{3, 1, 2, 5, 4, 1, 2, 6}, {2, 2, 3, 6, 1, 4, 5, 3}};
  const std::vector<Indices> noted = {{5}, {2, 7}, {3}, {6}, {4, 1, 0}};
  EXPECT_EQ(make_batches(lengths, {.max_tokens = 8, .seed = 42}, 3), noted);
}

TEST(Batches, LittleSpread) {
  const Lengths lengths = random_lengths(20'000, 100, 2);
  const auto spread = [&](int64_t window) {
    double total = 0.0;
    const auto batches = make_batches(lengths, {.max_tokens = 2000, .window = window}, 0);
    for (const Indices& batch : batches) {
      const auto [low, high] = std::minmax_element(batch.begin(), batch.end(), [&](int64_t a, int64_t b) {
        return lengths.target[static_cast<size_t>(a)] < lengths.target[static_cast<size_t>(b)];
      });
      total +=
          static_cast<double>(lengths.target[static_cast<size_t>(*high)] - lengths.target[static_cast<size_t>(*low)]);
    }
    return total / static_cast<double>(batches.size());
  };
  EXPECT_LT(spread(20'000), 1.0);
  EXPECT_LT(spread(2'000), 6.0);
  EXPECT_GT(spread(20), 30.0);
}

TEST(Batches, BatchesAreFull) {
  const Lengths lengths = random_lengths(20'000, 20, 3);
  const auto batches = make_batches(lengths, {.max_tokens = 1000}, 0);
  double fullest = 0.0;
  for (const Indices& batch : batches)
    fullest += static_cast<double>(std::max(sum(batch, lengths.source), sum(batch, lengths.target)));
  EXPECT_GT(fullest / static_cast<double>(batches.size()), 950.0);
}

TEST(Batches, LongAndShortBatchesAreMixed) {
  const Lengths lengths = random_lengths(20'000, 100, 4);
  const auto batches = make_batches(lengths, {.max_tokens = 2000}, 0);
  // The correlation of a batch's place with its length: sorted batches would have 1.
  double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
  for (size_t i = 0; i < batches.size(); ++i) {
    const auto x = static_cast<double>(i), y = static_cast<double>(lengths.target[static_cast<size_t>(batches[i][0])]);
    sx += x, sy += y, sxx += x * x, syy += y * y, sxy += x * y;
  }
  const auto n = static_cast<double>(batches.size());
  EXPECT_LT(std::abs((n * sxy - sx * sy) / std::sqrt((n * sxx - sx * sx) * (n * syy - sy * sy))), 0.15);
}

TEST(Batches, WithoutShufflingInOrderOfLength) {
  const Lengths lengths = random_lengths(100, 10, 5);
  const BatchOptions options{.max_tokens = 30, .shuffle = false};
  const auto batches = make_batches(lengths, options, 0);
  EXPECT_EQ(batches, make_batches(lengths, options, 1));
  const auto all = flat(batches);
  for (size_t i = 1; i < all.size(); ++i)
    EXPECT_LE(lengths.target[static_cast<size_t>(all[i - 1])], lengths.target[static_cast<size_t>(all[i])]);
}

TEST(Batches, Mistakes) {
  EXPECT_TRUE(make_batches({}, {}, 0).empty());
  expect_part(error_of([] { make_batches({{1}, {}}, {}, 0); }), "1 sources, but 0 targets");
  expect_part(error_of([] { make_batches({}, {.max_tokens = 0}, 0); }), "max_tokens: must be at least 1, but is 0");
  expect_part(error_of([] { make_batches({}, {.window = 0}, 0); }), "window");
}

}  // namespace
}  // namespace heed::data
