// Decoding steps: few queries on a memory that is read once for a group of heads, from several places, in parts.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/kernels/attention.h"
#include "tests/kernels/expect.h"

namespace heed::kernels::test {
namespace {

/// Long enough that a memory is read in several parts.
constexpr int64_t kLong = 2101;

void expect_path(const Case& c, const std::string& path) { EXPECT_EQ(explain(Library(c).problem).path, path); }

// Every rest that eight streams can leave, and every number of rows that registers take at once.
TEST(Decode, OddLengthsAndGroups) {
  int64_t n = 0;
  for (const int64_t keys : {1, 2, 7, 8, 15, 16, 17, 31, 33, 50, 127, 239, 257, 300, 521})
    for (const int64_t heads : {1, 2, 3, 5, 8, 11}) {
      constexpr int64_t kWidths[] = {1, 3, 8, 16, 33, 64, 80, 130};
      const int64_t d = kWidths[n % 8], dv = kWidths[(n * 3 + n / 8 + 2) % 8];
      ++n;
      SCOPED_TRACE(testing::Message() << "Tk " << keys << ", heads " << heads << ", D " << d << ", Dv " << dv);
      Case c({.batch = 2, .heads = heads, .kv_heads = 1, .queries = 1, .keys = keys, .dim = d, .value_dim = dv});
      c.fill(n);
      expect_path(c, "decode");
      expect_like_reference(c, {.gradients = false, .weights = true});
    }
}

TEST(Decode, SeveralQueries) {
  for (const int64_t queries : {2, 3, 4})
    for (const int64_t kv_heads : {1, 2, 4}) {
      SCOPED_TRACE(testing::Message() << "Tq " << queries << ", kv_heads " << kv_heads);
      Case c(
          {.batch = 2, .heads = 4, .kv_heads = kv_heads, .queries = queries, .keys = 70, .dim = 20, .value_dim = 24});
      c.fill(queries);
      expect_path(c, "decode");
      expect_like_reference(c, {.weights = true});
    }
}

TEST(Decode, LongMemoriesInParts) {
  for (const int64_t kv_heads : {1, 2, 4}) {
    SCOPED_TRACE(testing::Message() << "kv_heads " << kv_heads);
    Case c({.batch = 1, .heads = 4, .kv_heads = kv_heads, .queries = 1, .keys = kLong, .dim = 17, .value_dim = 20});
    c.fill(3);
    expect_path(c, "decode");
    EXPECT_GT(explain(Library(c).problem).tasks, kv_heads);
    expect_like_reference(c, {.weights = true, .threads = 2});
  }
}

// Scores that rise and fall along the memory: the shift moves inside a part and between parts.
TEST(Decode, ScoresOfAnySize) {
  for (const double slope : {-1.0, 1.0}) {
    Case c({.batch = 1, .heads = 2, .kv_heads = 1, .queries = 1, .keys = kLong, .dim = 8, .value_dim = 9});
    c.fill(5);
    for (int64_t j = 0; j < kLong; ++j)
      for (int64_t n = 0; n < 8; ++n) c.x.k[j * 8 + n] = static_cast<float>(c.x.k[j * 8 + n] + slope * 0.02 * j);
    expect_like_reference(c, {.gradients = false});
  }
}

TEST(Decode, Regions) {
  const auto cases = [](const Shape& shape) {
    std::vector<Case> all(6, Case(shape));
    for (Case& c : all) c.problem.region.align = Align::bottom_right;
    all[1].problem.region.causal = true;
    all[2].with_key_lengths({static_cast<int32_t>(shape.keys) - 9, 0, 5});
    all[2].problem.region.align = Align::top_left;
    all[3].problem.region.causal = true;
    all[3].problem.region.window_left = shape.keys / 2;
    all[4].with_query_lengths({1, 0, 1});
    all[4].problem.region.align = Align::top_left;
    all[5].problem.region.causal = true;
    all[5].problem.region.window_left = 6;
    all[5].problem.region.always_visible = 2;  // two ranges: tiles
    return all;
  };
  for (const int64_t keys : {40, 300})
    for (const int64_t queries : {1, 3}) {
      int64_t n = 0;
      for (Case& c : cases(
               {.batch = 3, .heads = 4, .kv_heads = 2, .queries = queries, .keys = keys, .dim = 12, .value_dim = 16})) {
        SCOPED_TRACE(testing::Message() << "region " << n << ", Tq " << queries << ", Tk " << keys);
        expect_like_reference(c.fill(++n), {.weights = true});
      }
    }
}

TEST(Decode, DocumentsAndLayouts) {
  for (const Layout& layout : {Layout{}, Layout{.heads_inside = true}, Layout{.row_gap = 3}, Layout{.col = 2}}) {
    SCOPED_TRACE(testing::Message() << "col " << layout.col << ", row_gap " << layout.row_gap);
    Case c({.heads = 4, .kv_heads = 2, .dim = 17, .value_dim = 9});
    c.with_ragged({1, 5, 0, 2, 1}, {40, 41, 7, 90, 1}).with_documents(2);
    expect_like_reference(c.fill(6), {.weights = true, .layout = layout});
  }
}

/// Rows of sequence `from` of `many` and of the only sequence of `one`: every output of a row.
void expect_same_rows(const Case& many_case, const Library& many, int64_t from, const Case& one_case,
                      const Library& one) {
  const int64_t dv = many_case.shape().value_dim;
  for (int64_t h = 0; h < many_case.shape().heads; ++h)
    for (int64_t i = 0; i < many_case.queries(from); ++i) {
      const int64_t a = many_case.query_row(from, h, i), b = one_case.query_row(0, h, i);
      const auto part = [](const std::vector<float>& all, int64_t row, int64_t width) {
        return std::vector<float>(all.begin() + row * width, all.begin() + (row + 1) * width);
      };
      EXPECT_TRUE(same_bits(part(many.results.out, a, dv), part(one.results.out, b, dv)));
      EXPECT_TRUE(same_bits(part(many.results.lse, a, 1), part(one.results.lse, b, 1)));
      EXPECT_TRUE(same_bits(part(many.saved, a, 2), part(one.saved, b, 2)));
    }
}

// A sequence among shorter and longer ones, with few and with many queries, has the bits that it has alone.
TEST(Decode, NeighboursChangeNoBit) {
  on_every_isa([] {
    const std::vector<int64_t> queries = {1, 1, 130, 3, 1, 0, 1}, keys = {kLong, 5, 140, 300, 1, 6, 961};
    Case many({.heads = 4, .kv_heads = 2, .dim = 12, .value_dim = 16});
    many.with_ragged(queries, keys).fill(7);
    Library all(many, {}, 2);
    ASSERT_TRUE(all.forward().ok());
    for (size_t b = 0; b < queries.size(); ++b) {
      SCOPED_TRACE(b);
      Case alone({.heads = 4, .kv_heads = 2, .dim = 12, .value_dim = 16});
      alone.with_ragged({queries[b]}, {keys[b]}).fill(1);
      const auto copy = [&](std::vector<double>& to, const std::vector<double>& from, int64_t heads, int64_t total,
                            int64_t first, int64_t count, int64_t width) {
        for (int64_t h = 0; h < heads; ++h)
          std::copy_n(from.begin() + (h * total + first) * width, count * width, to.begin() + h * count * width);
      };
      copy(alone.x.q, many.x.q, 4, many.query_offsets.back(), many.query_offsets[b], queries[b], 12);
      copy(alone.x.k, many.x.k, 2, many.key_offsets.back(), many.key_offsets[b], keys[b], 12);
      copy(alone.x.v, many.x.v, 2, many.key_offsets.back(), many.key_offsets[b], keys[b], 16);
      Library one(alone, {}, 1);
      ASSERT_TRUE(one.forward().ok());
      expect_same_rows(many, all, static_cast<int64_t>(b), alone, one);
    }
  });
}

// Nor do the other queries of the sequence, nor the other heads of the group.
TEST(Decode, OtherRowsChangeNoBit) {
  on_every_isa([] {
    for (const int64_t width : {5, 16, 64, 72}) {
      constexpr int64_t kRows = 4, kKeys = 333;
      const auto run = [&](int64_t heads, int64_t queries) {
        Case c({.batch = 1,
                .heads = heads,
                .kv_heads = 1,
                .queries = queries,
                .keys = kKeys,
                .dim = width,
                .value_dim = width});
        c.fill(11);
        Case all(
            {.batch = 1, .heads = kRows, .kv_heads = 1, .queries = 1, .keys = kKeys, .dim = width, .value_dim = width});
        all.fill(12);
        c.x.k = all.x.k, c.x.v = all.x.v;
        std::copy_n(all.x.q.begin(), c.x.q.size(), c.x.q.begin());
        Library library(c);
        EXPECT_TRUE(library.forward().ok());
        return library.results.out;
      };
      const std::vector<float> all = run(kRows, 1);
      EXPECT_TRUE(same_bits(all, run(1, kRows)));
      for (int64_t rows = 1; rows < kRows; ++rows) {
        const std::vector<float> first(all.begin(), all.begin() + rows * width);
        EXPECT_TRUE(same_bits(first, run(rows, 1)));
        EXPECT_TRUE(same_bits(first, run(1, rows)));
      }
    }
  });
}

TEST(Decode, ThreadsChangeNoBit) {
  on_every_isa([] {
    Case c({.batch = 2, .heads = 4, .kv_heads = 1, .queries = 1, .keys = 2 * kLong, .dim = 16, .value_dim = 12});
    c.fill(8);
    Library one(c, {}, 1);
    ASSERT_TRUE(one.forward().ok());
    for (const int threads : {2, 3})
      for (int again = 0; again < 20; ++again) {
        Library many(c, {}, threads);
        ASSERT_TRUE(many.forward().ok());
        ASSERT_TRUE(same_bits(one.results.out, many.results.out));
        ASSERT_TRUE(same_bits(one.results.lse, many.results.lse));
        ASSERT_TRUE(same_bits(one.results.entropy, many.results.entropy));
        ASSERT_TRUE(same_bits(one.saved, many.saved));
      }
  });
}

// What is asked for besides the output does not change it.
TEST(Decode, EntropyChangesNoBit) {
  on_every_isa([] {
    Case c({.batch = 2, .heads = 4, .kv_heads = 2, .queries = 1, .keys = 400, .dim = 16, .value_dim = 12});
    c.fill(9);
    Library with(c), without(c);
    without.outputs.entropy = without.outputs.lse = without.outputs.saved = nullptr;
    ASSERT_TRUE(with.forward().ok() && without.forward().ok());
    EXPECT_TRUE(same_bits(with.results.out, without.results.out));
  });
}

TEST(Decode, InfinitiesAndNaN) {
  on_every_isa([] {
    Case c({.batch = 1, .heads = 2, .kv_heads = 1, .queries = 1, .keys = kLong, .dim = 8, .value_dim = 8});
    c.fill(10);
    c.x.k[1500 * 8 + 3] = NAN;
    Library nan(c);
    ASSERT_TRUE(nan.forward().ok());
    for (const float x : nan.results.out) EXPECT_TRUE(x != x);
  });
}

TEST(Decode, OtherKindsTakeTiles) {
  const Shape shape{.batch = 1, .heads = 4, .kv_heads = 2, .queries = 1, .keys = 50, .dim = 8, .value_dim = 8};
  expect_path(Case(shape).fill(1), "decode");
  expect_path(Case(shape).with_alibi().fill(1), "tiles");
  expect_path(Case(shape).with_sink().fill(1), "tiles");
  expect_path(Case(shape).with_tanh_sum().fill(1), "tiles");
  Case softcap(shape);
  softcap.problem.score.softcap = 5.0f;
  expect_path(softcap.fill(1), "tiles");
  Case dropout(shape);
  dropout.problem.dropout.p = 0.1f;
  expect_path(dropout.fill(1), "tiles");
  Case mixed({.heads = 2, .dim = 8, .value_dim = 8});
  mixed.with_ragged({1, 30}, {40, 40}).fill(1);
  expect_path(mixed, "tiles");
  EXPECT_NE(explain(Library(mixed).problem).text.find("decode"), std::string::npos);
}

}  // namespace
}  // namespace heed::kernels::test
