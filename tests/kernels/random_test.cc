// What the library draws by itself: dropout masks and sampled keys. Both must depend on (seed, b, h, i, j) alone.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/combinations.h"
#include "tests/kernels/expect.h"

namespace heed::kernels::test {
namespace {

/// The dropout mask of a case, read off the output: with the identity as values, the output is the dropped weights.
std::vector<uint8_t> recover_mask(const Case& c, int threads = 0) {
  Case probe(c.shape());
  probe.problem.normalise.kind = Normaliser::sigmoid;  // no weight is ever 0 by itself
  probe.problem.dropout = c.problem.dropout;
  probe.query_offsets = c.query_offsets;
  probe.key_offsets = c.key_offsets;
  probe.problem.shape.value_dim = c.longest_keys();
  probe.fill(1);
  probe.x.v.assign(probe.x.v.size(), 0.0);
  for (int64_t b = 0; b < c.shape().batch; ++b)
    for (int64_t g = 0; g < c.kv_heads(); ++g)
      for (int64_t j = 0; j < c.keys(b); ++j)
        probe.x.v[probe.key_row(c.kv_heads(), b, g, j) * c.longest_keys() + j] = 1.0;
  Library library(probe, {}, threads);
  const Status status = library.forward();
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<uint8_t> kept(c.pair_count(), 0);
  for (int64_t b = 0; b < c.shape().batch; ++b)
    for (int64_t h = 0; h < c.shape().heads; ++h)
      for (int64_t i = 0; i < c.queries(b); ++i)
        for (int64_t j = 0; j < c.keys(b); ++j)
          kept[c.pair_index(b, h, i, j)] = library.results.out[c.query_row(b, h, i) * c.longest_keys() + j] != 0.0f;
  return kept;
}

Case dropout_case(const Shape& shape, float p) {
  Case c(shape);
  c.problem.dropout = {.p = p, .seed = 99};
  return c;
}

// The mask seen with one problem is the mask of another with the same seed, forward and backward: all gradients agree.
TEST(Dropout, ForwardAndBackwardDrawTheSameMask) {
  const Shape shapes[] = {{.batch = 2, .heads = 2, .kv_heads = 1, .queries = 19, .keys = 37, .dim = 8, .value_dim = 6},
                          {.batch = 1, .heads = 2, .queries = 1, .keys = 300, .dim = 8, .value_dim = 6},
                          {.batch = 1, .heads = 1, .queries = 201, .keys = 330, .dim = 8, .value_dim = 6}};
  for (const Shape& shape : shapes)
    for (const Part& normaliser : all_normalisers()) {
      if (shape.queries > 200 && normaliser.name != "softmax" && normaliser.name != "entmax15") continue;
      SCOPED_TRACE(normaliser.name);
      Case c = dropout_case(shape, 0.25f);
      normaliser.apply(c);
      c.with_guide(0.3f);
      ASSERT_TRUE(fill_smooth(c, 3, 1e-7));
      c.kept = recover_mask(c);
      expect_like_reference(c);
    }
  for (const Part& score : all_scores()) {
    SCOPED_TRACE(score.name);
    Case c = dropout_case(shapes[0], 0.25f);
    score.apply(c);
    c.problem.region.causal = true;
    c.problem.region.align = Align::bottom_right;
    ASSERT_TRUE(fill_smooth(c, 4, 1e-6));
    c.kept = recover_mask(c);
    expect_like_reference(c);
  }
}

TEST(Dropout, RaggedAndGaussian) {
  Case c = dropout_case({.heads = 2, .dim = 5, .value_dim = 4}, 0.5f);
  c.with_ragged({9, 0, 40}, {33, 2, 70}).with_centre(20.3f, 9.0f).fill(5);
  c.kept = recover_mask(c);
  expect_like_reference(c);
}

TEST(Dropout, KeepsTheRightShare) {
  for (const float p : {0.1f, 0.5f, 0.9f}) {
    Case c = dropout_case({.batch = 2, .heads = 2, .queries = 300, .keys = 300, .dim = 4}, p);
    const std::vector<uint8_t> kept = recover_mask(c);
    double count = 0;
    for (uint8_t k : kept) count += k;
    const auto pairs = static_cast<double>(kept.size());
    const double deviation = std::sqrt(p * (1.0 - p) / pairs);
    EXPECT_NEAR(count / pairs, 1.0 - p, 5.0 * deviation);
    // Neighbours along each axis agree as often as independent draws would.
    for (const int64_t distance : {int64_t{1}, int64_t{8}, int64_t{300}, int64_t{300 * 300}, int64_t{2 * 300 * 300}}) {
      double both = 0, n = 0;
      for (size_t e = 0; e + distance < kept.size(); ++e) both += kept[e] && kept[e + distance], ++n;
      const double share = (1.0 - p) * (1.0 - p);
      EXPECT_NEAR(both / n, share, 6.0 * std::sqrt(share * (1.0 - share) / n)) << "distance " << distance;
    }
  }
}

// Fewer keys, fewer queries, other batch mates, threads and instruction sets: the same (b, h, i, j) is kept or dropped.
TEST(Dropout, MaskDependsOnSeedAndPlaceOnly) {
  const Case big = dropout_case({.batch = 3, .heads = 2, .queries = 150, .keys = 200, .dim = 4}, 0.5f);
  const std::vector<uint8_t> mask = recover_mask(big, 1);
  EXPECT_EQ(mask, recover_mask(big, 2));
  on_every_isa([&] { EXPECT_EQ(mask, recover_mask(big)); });
  for (const Shape& s : {Shape{.batch = 2, .heads = 2, .queries = 1, .keys = 200, .dim = 4},
                         Shape{.batch = 3, .heads = 2, .queries = 70, .keys = 33, .dim = 9}}) {
    const Case small = dropout_case(s, 0.5f);
    const std::vector<uint8_t> part = recover_mask(small);
    for (int64_t b = 0; b < s.batch; ++b)
      for (int64_t h = 0; h < s.heads; ++h)
        for (int64_t i = 0; i < s.queries; ++i)
          for (int64_t j = 0; j < s.keys; ++j)
            ASSERT_EQ(part[small.pair_index(b, h, i, j)], mask[big.pair_index(b, h, i, j)])
                << b << h << " " << i << " " << j;
  }
  Case other = big;
  other.problem.dropout.seed = 100;
  EXPECT_NE(mask, recover_mask(other));
}

TEST(Dropout, NoneIsTheSameBitsAsOff) {
  Case c({.batch = 1, .heads = 2, .queries = 20, .keys = 50, .dim = 8, .value_dim = 8});
  c.fill(1);
  Library off(c);
  ASSERT_TRUE(off.forward().ok());
  c.problem.dropout = {.p = 0.0f, .seed = 5};
  Library zero(c);
  ASSERT_TRUE(zero.forward().ok());
  EXPECT_EQ(off.results.out, zero.results.out);
}

// ---------------------------------------------------------------------------------------------------------- sampled

Case sampled_case(const Shape& shape, uint64_t seed) {
  Case c(shape);
  c.problem.normalise = {.kind = Normaliser::sampled, .seed = seed};
  return c;
}

std::vector<int32_t> sample(const Case& c, int threads = 0) {
  Library library(c, {}, threads);
  const Status status = library.forward();
  EXPECT_TRUE(status.ok()) << status.message();
  return library.results.choice;
}

// Chi-square over many seeds: each key is chosen as often as softmax says.
TEST(Sampled, FrequenciesFollowSoftmax) {
  on_every_isa([] {
    for (const bool causal : {false, true}) {
      Case c = sampled_case({.batch = 1, .heads = 2, .queries = 5, .keys = 9, .dim = 4, .value_dim = 1}, 0);
      c.problem.region.causal = causal;
      c.problem.region.align = Align::bottom_right;
      c.fill(6);
      constexpr int kDraws = 4000;
      const std::vector<double> expected = [&] {
        Case soft = c;
        soft.problem.normalise.kind = Normaliser::softmax;
        return reference_forward(soft, soft.x).weights;
      }();
      std::vector<double> seen(expected.size(), 0.0);
      for (int draw = 0; draw < kDraws; ++draw) {
        c.problem.normalise.seed = 1000 + draw;
        const std::vector<int32_t> choice = sample(c, 1);
        for (size_t row = 0; row < choice.size(); ++row) seen[row * 9 + choice[row]] += 1.0;
      }
      for (size_t row = 0; row < expected.size() / 9; ++row) {
        double chi_square = 0.0;
        int freedom = -1;
        double rare_seen = 0.0, rare_expected = 0.0;
        for (size_t n = row * 9; n < row * 9 + 9; ++n) {
          const double e = expected[n] * kDraws;
          EXPECT_TRUE(e > 0.0 || seen[n] == 0.0) << "a hidden key was drawn";
          if (e < 8.0) {
            rare_seen += seen[n], rare_expected += e;
            continue;
          }
          chi_square += (seen[n] - e) * (seen[n] - e) / e;
          ++freedom;
        }
        if (rare_expected >= 1.0)
          chi_square += (rare_seen - rare_expected) * (rare_seen - rare_expected) / rare_expected, ++freedom;
        // Five standard deviations above the mean of a chi-square: one false alarm in many thousand rows.
        EXPECT_LT(chi_square, freedom + 5.0 * std::sqrt(2.0 * std::max(freedom, 0)) + 5.0) << "row " << row;
      }
    }
  });
}

// One draw for each of many rows of one call, all with the same scores: rows must be independent too.
TEST(Sampled, RowsAreIndependent) {
  constexpr int64_t kQueries = 3000, kKeys = 7;
  Case c = sampled_case({.batch = 1, .heads = 2, .queries = kQueries, .keys = kKeys, .dim = 2, .value_dim = 1}, 42);
  c.problem.score.kind = ScoreKind::none;
  c.with_tensor(false, false, false, true).fill(7);
  const std::vector<int32_t> choice = sample(c);
  double total = 0.0;
  for (double bias : c.x.bias_tensor) total += std::exp(bias);
  for (int64_t j = 0; j < kKeys; ++j) {
    const double p = std::exp(c.x.bias_tensor[j]) / total;
    double count = 0.0, repeats = 0.0;
    for (size_t row = 0; row < choice.size(); ++row) {
      count += choice[row] == j;
      repeats += row > 0 && choice[row] == j && choice[row - 1] == j;
    }
    const auto n = static_cast<double>(choice.size());
    EXPECT_NEAR(count / n, p, 5.0 * std::sqrt(p * (1.0 - p) / n));
    EXPECT_NEAR(repeats / n, p * p, 6.0 * std::sqrt(p * p * (1.0 - p * p) / n) + 1.0 / n);
  }
}

TEST(Sampled, SameSeedSameChoice) {
  Case c = sampled_case({.batch = 2, .heads = 2, .queries = 90, .keys = 200, .dim = 8, .value_dim = 3}, 5);
  c.fill(8);
  const std::vector<int32_t> choice = sample(c, 1);
  EXPECT_EQ(choice, sample(c, 1));
  EXPECT_EQ(choice, sample(c, 2));
  c.problem.normalise.seed = 6;
  EXPECT_NE(choice, sample(c, 1));
}

}  // namespace
}  // namespace heed::kernels::test
