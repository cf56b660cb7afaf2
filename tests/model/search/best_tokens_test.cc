#include "heed/model/search/best_tokens.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "heed/tensor/tape.h"

namespace heed::search {
namespace {

TEST(BestTokens, AreThoseOfASortAndOfEqualsTheSmallerId) {
  std::mt19937_64 random(1);
  for (const int64_t count : {1, 2, 7, 8, 17, 64, 1000}) {
    for (const int levels : {1, 3, 1000000}) {
      std::vector<float> x(static_cast<size_t>(count));
      for (float& v : x) v = static_cast<float>(random() % static_cast<uint64_t>(levels)) * 1e-5f;
      if (count > 5) x[5] = -std::numeric_limits<float>::infinity();
      std::vector<int32_t> order(static_cast<size_t>(count));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](int32_t a, int32_t b) { return x[static_cast<size_t>(a)] > x[static_cast<size_t>(b)]; });
      for (const int64_t k : {int64_t{1}, int64_t{2}, int64_t{6}, count / 2, count, count + 3}) {
        if (k < 1) continue;
        Tape tape({.recording = false});
        BestTokens best;
        best_tokens(tape.input(x.data(), 1, count), k, best);
        ASSERT_EQ(best.k, std::min(k, count));
        ASSERT_EQ(best.token, std::vector<int32_t>(order.begin(), order.begin() + best.k)) << count << " " << k;
        double sum = 0.0;
        for (const float v : x) sum += std::exp(static_cast<double>(v));
        ASSERT_NEAR(best.log_sum[0], std::log(sum), 1e-5);
      }
    }
  }
}

TEST(BestTokens, OfManyRowsAreThoseOfEach) {
  std::mt19937_64 random(2);
  std::normal_distribution<float> normal(0.0f, 30.0f);
  constexpr int64_t kRows = 50, kCount = 3001;
  std::vector<float> x(kRows * kCount);
  for (float& v : x) v = normal(random);
  Tape tape({.recording = false});
  BestTokens all, one;
  best_tokens(tape.input(x.data(), kRows, kCount), 6, all);
  for (int64_t r = 0; r < kRows; ++r) {
    best_tokens(tape.input(x.data() + r * kCount, 1, kCount), 6, one);
    EXPECT_EQ(std::vector<int32_t>(all.token.begin() + 6 * r, all.token.begin() + 6 * r + 6), one.token);
    EXPECT_EQ(all.log_sum[static_cast<size_t>(r)], one.log_sum[0]);
  }
}

TEST(BestTokens, SumsHaveAllTokensAndTheBestOnlyThoseThatMayCome) {
  std::vector<float> x = {5.0f, 9.0f, 1.0f, 3.0f};
  Tape tape({.recording = false});
  BestTokens all, some;
  best_tokens(tape.input(x.data(), 1, 4), 4, all);
  Tensor logits = tape.filled(1, 4, 0.0f);
  std::copy(x.begin(), x.end(), logits.row(0));
  best_tokens(logits, 2, some, std::vector<int32_t>{0, 1, 7});  // there is no token 7
  EXPECT_EQ(some.token, (std::vector<int32_t>{3, 2}));
  EXPECT_EQ(some.log_sum, all.log_sum);
}

}  // namespace
}  // namespace heed::search
