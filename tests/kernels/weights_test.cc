// slow: 3 s
// The weights on request, in each of their forms, against the reference.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/combinations.h"
#include "tests/kernels/expect.h"

namespace heed::kernels::test {
namespace {

constexpr Shape kWeightsShape = {.batch = 2, .heads = 3, .queries = 21, .keys = 70, .dim = 8, .value_dim = 6};

class Weights : public testing::TestWithParam<std::tuple<Part, Part>> {};

TEST_P(Weights, EveryFormAgrees) {
  Case c = combine(kWeightsShape, {all_scores()[0], std::get<0>(GetParam()), std::get<1>(GetParam())});
  c.problem.dropout = {.p = 0.3f, .seed = 4};  // weights are shown without it
  ASSERT_TRUE(fill_smooth(c, 1, 1e-6));
  on_every_isa([&] {
    Library library(c);
    ASSERT_TRUE(library.forward().ok());
    if (c.problem.normalise.kind == Normaliser::sampled) c.choice = library.results.choice;
    Expected expected(c, false);
    ASSERT_TRUE(library.weights().ok());
    const std::vector<float> dense = library.results.weights;
    EXPECT_TRUE(expected.result_close("weights", dense));

    // Some heads, some rows, everything at once.
    const int64_t first_head = 1, heads = 2, first_query = 3, queries = 11, keys = 70, top = 5;
    const int64_t rows = 2 * heads * queries;
    std::vector<float> part = unwritten(rows * keys), tops = unwritten(rows * top), sums = unwritten(2 * heads * keys);
    std::vector<int32_t> top_keys(rows * top, -7);
    std::vector<float> streamed;
    WeightsRequest request;
    request.first_head = first_head, request.head_count = heads;
    request.first_query = first_query, request.query_count = queries;
    request.dense = part.data(), request.dense_keys = keys;
    request.top_k = top, request.top_weights = tops.data(), request.top_keys = top_keys.data();
    request.column_sums = sums.data();
    request.row = [&](int64_t b, int64_t h, int64_t i, const float* weights, int64_t count) {
      EXPECT_EQ(count, keys);
      EXPECT_EQ(static_cast<int64_t>(streamed.size()) / keys,
                (b * heads + h - first_head) * queries + i - first_query);  // in order
      streamed.insert(streamed.end(), weights, weights + count);
    };
    const Status status = library.weights(request);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(part, streamed);
    std::vector<double> column(keys);
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t h = 0; h < heads; ++h) {
        std::fill(column.begin(), column.end(), 0.0);
        double largest = 0.0;
        for (int64_t i = 0; i < queries; ++i) {
          const int64_t row = (b * heads + h) * queries + i;
          const float* mine = part.data() + row * keys;
          for (int64_t j = 0; j < keys; ++j) {
            ASSERT_EQ(mine[j], dense[c.pair_index(b, h + first_head, i + first_query, j)]);
            column[j] += mine[j];
            largest = std::max(largest, std::abs(column[j]));
          }
          std::vector<float> sorted;  // of the keys that the query sees
          for (int64_t j = 0; j < keys; ++j)
            if (visible(c, b, h + first_head, i + first_query, j)) sorted.push_back(mine[j]);
          std::sort(sorted.begin(), sorted.end(), std::greater<float>());
          sorted.resize(std::max<size_t>(sorted.size(), top), 0.0f);
          for (int64_t n = 0; n < top; ++n) {
            const int32_t key = top_keys[row * top + n];
            ASSERT_EQ(tops[row * top + n], sorted[n]);
            ASSERT_EQ(tops[row * top + n], key < 0 ? 0.0f : mine[key]);
          }
          std::vector<int32_t> distinct;
          for (int64_t n = 0; n < top; ++n)
            if (top_keys[row * top + n] >= 0) distinct.push_back(top_keys[row * top + n]);
          std::sort(distinct.begin(), distinct.end());
          ASSERT_EQ(std::adjacent_find(distinct.begin(), distinct.end()), distinct.end());
        }
        for (int64_t j = 0; j < keys; ++j)
          ASSERT_NEAR(sums[(b * heads + h) * keys + j], column[j], queries * kEps * (largest + 1e-30));
      }
  });
}

INSTANTIATE_TEST_SUITE_P(All, Weights,
                         testing::Combine(testing::ValuesIn(all_normalisers()), testing::ValuesIn(all_regions())),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_x_" + std::get<1>(info.param).name;
                         });

/// Weights of exactly 0: left out where they mean nothing, ranked before negative ones, and never of a hidden key.
TEST(TopWeights, ZeroIsLargerThanLess) {
  Case c({.batch = 1, .heads = 1, .queries = 3, .keys = 4, .dim = 1, .value_dim = 1});
  c.problem.normalise.kind = Normaliser::identity;
  c.problem.region.causal = true;
  c.fill(1);
  c.x.k = {0, -1, 0, 5};
  c.x.q = {1, 1, -1};
  on_every_isa([&] {
    Library library(c);
    ASSERT_TRUE(library.forward().ok());
    std::vector<float> tops = unwritten(9);
    std::vector<int32_t> keys(9, -7);
    WeightsRequest request;
    request.top_k = 3, request.top_weights = tops.data(), request.top_keys = keys.data();
    ASSERT_TRUE(library.weights(request).ok());
    // Row 0 sees a 0 alone; row 1 sees 0 and -1; row 2 sees -0, 1 and -0.
    EXPECT_EQ(keys, (std::vector<int32_t>{-1, -1, -1, 0, 1, -1, 1, -1, -1}));
    const float less = tops[4], more = tops[6];
    EXPECT_EQ(tops, (std::vector<float>{0, 0, 0, 0, less, 0, more, 0, 0}));
    EXPECT_LT(less, 0.0f);
    EXPECT_GT(more, 0.0f);
  });
}

TEST(WeightsTimesValues, IsTheOutput) {
  for (const Part& score : all_scores()) {
    SCOPED_TRACE(score.name);
    Case c(kWeightsShape);
    score.apply(c);
    c.fill(2);
    on_every_isa([&] {
      Library library(c);
      ASSERT_TRUE(library.forward().ok());
      ASSERT_TRUE(library.weights().ok());
      for (int64_t b = 0; b < 2; ++b)
        for (int64_t h = 0; h < 3; ++h)
          for (int64_t i = 0; i < 21; ++i)
            for (int64_t n = 0; n < 6; ++n) {
              double sum = 0.0;
              for (int64_t j = 0; j < 70; ++j)
                sum += library.results.weights[c.pair_index(b, h, i, j)] * c.x.v[c.key_row(3, b, h, j) * 6 + n];
              ASSERT_NEAR(library.results.out[c.query_row(b, h, i) * 6 + n], sum, 64 * kEps);
            }
    });
  }
}

TEST(WeightsOfRagged, RowsPastTheEndAreZeros) {
  Case c({.heads = 2, .dim = 4, .value_dim = 3});
  c.with_ragged({3, 0, 12}, {8, 4, 31}).fill(3);
  expect_like_reference(c, {.weights = true});
  Library library(c);
  ASSERT_TRUE(library.forward().ok());
  WeightsRequest request;  // defaults: everything, as wide as the longest sequence
  std::vector<float> dense = unwritten(c.pair_count());
  request.query_count = 12;
  request.dense = dense.data();
  ASSERT_TRUE(library.weights(request).ok());
  ASSERT_TRUE(library.weights().ok());
  EXPECT_EQ(dense, library.results.weights);
}

TEST(WeightsRequestIsChecked, OutOfRange) {
  Case c(kWeightsShape);
  c.fill(4);
  Library library(c);
  ASSERT_TRUE(library.forward().ok());
  std::vector<float> dense(c.pair_count());
  WeightsRequest request;
  request.dense = dense.data();
  request.first_head = 2;
  request.head_count = 2;
  EXPECT_FALSE(library.weights(request).ok());
}

}  // namespace
}  // namespace heed::kernels::test
