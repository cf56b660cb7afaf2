// slow: 5 s
// What must hold without any reference: symmetries, independence, and the same result by another way.
#include <cstdlib>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/kernels/combinations.h"
#include "tests/kernels/expect.h"

namespace heed::kernels::test {
namespace {

void require(const testing::AssertionResult& result) {
  if (!result) RC_FAIL(result.message());
}

// The same examples in every run, unless RC_PARAMS asks for others.
const int kExamples = setenv("RC_PARAMS", "seed=1 max_success=40", 0);

/// A property over random shapes and seeds; the first counterexample, made small, becomes the failure's text.
template <class Property>
void check_property(Property property) {
  ASSERT_EQ(kExamples, 0);
  on_every_isa([&] { ASSERT_TRUE(rc::check(property)); });
}

Shape any_shape(int64_t most_queries, int64_t most_keys) {
  return {.batch = 1,
          .heads = 2,
          .kv_heads = *rc::gen::inRange<int64_t>(1, 3),
          .queries = *rc::gen::inRange<int64_t>(1, most_queries),
          .keys = *rc::gen::inRange<int64_t>(1, most_keys),
          .dim = *rc::gen::inRange<int64_t>(1, 40),
          .value_dim = *rc::gen::inRange<int64_t>(1, 40)};
}

/// Scores whose tiles differ, each with each kind of normaliser that is continuous.
Case any_case(const Shape& shape) {
  Case c(shape);
  const std::vector<Part> scores = all_scores(), normalisers = all_normalisers();
  (*rc::gen::elementOf(std::vector<Part>{scores[0], scores[2], scores[7]})).apply(c);
  (*rc::gen::elementOf(std::vector<Part>{normalisers[0], normalisers[3], normalisers[10]})).apply(c);
  return c;
}

void move_rows(std::vector<double>& rows, int64_t width, int64_t keys, const std::vector<int64_t>& to) {
  const std::vector<double> from = rows;
  for (size_t n = 0; n < rows.size() / width; ++n)
    for (int64_t d = 0; d < width; ++d) rows[(n / keys * keys + to[n % keys]) * width + d] = from[n * width + d];
}

TEST(Property, PermutingKeysChangesNothing) {
  check_property([] {
    Case c = any_case(any_shape(40, 150));
    c.fill(*rc::gen::inRange<uint64_t>(1, 1000));
    Case moved = c;
    std::vector<int64_t> to(c.shape().keys);
    std::iota(to.begin(), to.end(), 0);
    Random random(*rc::gen::inRange<uint64_t>(1, 1000));
    for (size_t n = to.size(); n > 1; --n) std::swap(to[n - 1], to[static_cast<size_t>(random.uniform() * n)]);
    move_rows(moved.x.k, c.shape().dim, c.shape().keys, to);
    move_rows(moved.x.v, c.shape().value_dim, c.shape().keys, to);
    Library a(c), b(moved);
    RC_ASSERT(a.forward().ok() && b.forward().ok());
    Expected expected(c, false);
    require(expected.result_close("out", a.results.out));
    require(expected.result_close("out", b.results.out));
  });
}

// The second sequence of a batch gives the bits it gives alone, whatever stands before and behind it.
TEST(Property, BatchMatesChangeNothing) {
  check_property([] {
    Shape shape = any_shape(70, 150);
    shape.batch = 3;
    Case all = any_case(shape);
    all.fill(*rc::gen::inRange<uint64_t>(1, 1000));
    Case alone = all;
    alone.problem.shape.batch = 1;
    const auto third = [](std::vector<double>& v) {
      v = std::vector<double>(v.begin() + v.size() / 3, v.begin() + v.size() / 3 * 2);
    };
    third(alone.x.q), third(alone.x.k), third(alone.x.v), third(alone.up.d_out), third(alone.up.d_lse),
        third(alone.up.d_entropy);
    Library a(all), b(alone);
    RC_ASSERT(a.forward().ok() && b.forward().ok() && a.backward().ok() && b.backward().ok());
    const auto middle = [](const std::vector<float>& v) {
      return std::vector<float>(v.begin() + v.size() / 3, v.begin() + v.size() / 3 * 2);
    };
    require(same_bits(middle(a.results.out), b.results.out));
    require(same_bits(middle(a.grad.q), b.grad.q));
    require(same_bits(middle(a.grad.k), b.grad.k));
    require(same_bits(middle(a.grad.v), b.grad.v));
  });
}

/// What stands behind key_lengths changes no bit.
void check_padding(float garbage) {
  check_property([garbage] {
    Case c = any_case(any_shape(70, 150));
    const int64_t keys = c.shape().keys;
    const int32_t length = *rc::gen::inRange<int32_t>(0, static_cast<int32_t>(keys) + 1);
    c.with_key_lengths({length}).fill(*rc::gen::inRange<uint64_t>(1, 1000));
    Case padded = c;
    for (auto [rows, width] : {std::pair{&padded.x.k, c.shape().dim}, std::pair{&padded.x.v, c.shape().value_dim}})
      for (size_t n = 0; n < rows->size(); ++n)
        if (static_cast<int64_t>(n) / width % keys >= length) (*rows)[n] = garbage;
    Library a(c), b(padded);
    RC_ASSERT(a.forward().ok() && b.forward().ok() && a.backward().ok() && b.backward().ok());
    require(same_bits(a.results.out, b.results.out));
    for (const auto& [x, y] : {std::pair{&a.grad.q, &b.grad.q}, {&a.grad.k, &b.grad.k}, {&a.grad.v, &b.grad.v}})
      require(same_bits(*x, *y));
  });
}

TEST(Property, PaddingChangesNothing) { check_padding(-3e4f); }

// A cache that was allocated and not yet written may hold anything.
TEST(Property, PaddingMayBeNaN) { check_padding(NAN); }

TEST(Property, CausalNeverSeesTheFuture) {
  check_property([] {
    Case c = any_case(any_shape(100, 150));
    c.problem.region.causal = true;
    c.fill(*rc::gen::inRange<uint64_t>(1, 1000));
    const int64_t keys = c.shape().keys;
    const int64_t now = *rc::gen::inRange<int64_t>(0, keys);
    Case changed = c;
    for (auto [rows, width] : {std::pair{&changed.x.k, c.shape().dim}, std::pair{&changed.x.v, c.shape().value_dim}})
      for (size_t n = 0; n < rows->size(); ++n)
        if (static_cast<int64_t>(n) / width % keys > now) (*rows)[n] = static_cast<float>(-3.0 * (*rows)[n] + 1.0);
    Library a(c), b(changed);
    RC_ASSERT(a.forward().ok() && b.forward().ok());
    const int64_t dv = c.shape().value_dim, tq = c.shape().queries;
    for (int64_t h = 0; h < 2; ++h) {
      const auto until_now = [&](const std::vector<float>& out) {
        return std::vector<float>(out.begin() + h * tq * dv, out.begin() + (h * tq + std::min(now + 1, tq)) * dv);
      };
      require(same_bits(until_now(a.results.out), until_now(b.results.out)));
    }
  });
}

class Threads : public testing::TestWithParam<std::tuple<Part, Part>> {};

// 1, 2 and 3 threads: the same bits, every output and every gradient.
TEST_P(Threads, SameBits) {
  for (const Shape& shape :
       {Shape{.batch = 2, .heads = 4, .kv_heads = 2, .queries = 150, .keys = 210, .dim = 16, .value_dim = 12},
        Shape{.batch = 3, .heads = 2, .kv_heads = 1, .queries = 1, .keys = 900, .dim = 16, .value_dim = 12}}) {
    Case c(shape);
    std::get<0>(GetParam()).apply(c);
    std::get<1>(GetParam()).apply(c);
    if (c.problem.score.kind != ScoreKind::none) c.with_tensor(false, true, false, true);
    c.with_alibi().with_relative(6, false).with_guide(0.3f);
    c.problem.dropout = {.p = 0.1f, .seed = 3};
    c.fill(4);
    Library one(c, {}, 1);
    ASSERT_TRUE(one.forward().ok() && one.backward().ok() && one.weights().ok());
    for (const int threads : {2, 3}) {
      SCOPED_TRACE(testing::Message() << threads << " threads");
      Library many(c, {}, threads);
      ASSERT_TRUE(many.forward().ok() && many.backward().ok() && many.weights().ok());
      const Named<float> a = one.results.named(), b = many.results.named();
      for (size_t n = 0; n < a.size(); ++n) EXPECT_TRUE(same_bits(*a[n].second, *b[n].second)) << a[n].first;
      EXPECT_EQ(one.results.choice, many.results.choice);
      const Named<float> d_a = one.grad.named(), d_b = many.grad.named();
      for (size_t n = 0; n < d_a.size(); ++n)
        EXPECT_TRUE(same_bits(*d_a[n].second, *d_b[n].second)) << "d_" << d_a[n].first;
    }
  }
}
std::vector<Part> few_scores() {
  std::vector<Part> few;
  for (const Part& part : all_scores())
    if (part.name == "inner" || part.name == "tanh_sum" || part.name == "mlp2_relu" || part.name == "none" ||
        part.name == "custom")
      few.push_back(part);
  return few;
}
INSTANTIATE_TEST_SUITE_P(All, Threads,
                         testing::Combine(testing::ValuesIn(few_scores()), testing::ValuesIn(all_normalisers())),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_x_" + std::get<1>(info.param).name;
                         });

// ------------------------------------------------------------------------------------------------ another way, same
// result

// Decoding with a cache: query t over keys 0..t, one at a time, is row t of the full causal pass.
TEST(AnotherWay, CachedDecodingEqualsTheFullPass) {
  for (const Part& score : few_scores()) {
    if (score.name == "none") continue;
    SCOPED_TRACE(score.name);
    Case c({.batch = 2, .heads = 4, .kv_heads = 2, .queries = 40, .keys = 40, .dim = 12, .value_dim = 8});
    score.apply(c);
    c.problem.region.causal = true;
    c.with_alibi().with_relative(5, true).fill(1);
    Expected expected(c, false);
    on_every_isa([&] {
      std::vector<float> by_offset(c.rows() * 8), by_corner(c.rows() * 8);
      for (int64_t t = 0; t < 40; ++t) {
        Case step = some_queries(c, t, 1);
        step.problem.region.align = Align::offset;  // the cache is longer than what is filled
        step.problem.region.query_offset = t;
        Library offset(step);
        ASSERT_TRUE(offset.forward().ok());
        step.problem.region.align = Align::bottom_right;  // the cache as long as what is filled
        Library corner(step);
        corner.problem.shape.keys = t + 1;  // strides stay those of the whole cache
        ASSERT_TRUE(corner.forward().ok());
        for (int64_t bh = 0; bh < 8; ++bh)
          for (int64_t n = 0; n < 8; ++n) {
            by_offset[(bh * 40 + t) * 8 + n] = offset.results.out[bh * 8 + n];
            by_corner[(bh * 40 + t) * 8 + n] = corner.results.out[bh * 8 + n];
          }
      }
      EXPECT_TRUE(expected.result_close("out", by_offset)) << "by offset";
      EXPECT_TRUE(expected.result_close("out", by_corner)) << "by corner";
    });
  }
}

// Results over parts of the keys merge into the result over all of them; parts may be empty.
TEST(AnotherWay, MergeOfPartsEqualsTheWhole) {
  Case c({.batch = 2, .heads = 3, .queries = 17, .keys = 90, .dim = 8, .value_dim = 7});
  c.with_mask(MaskKind::bytes, true, true).fill(3);
  Expected expected(c, false);
  on_every_isa([&] {
    std::vector<std::vector<float>> outs;
    std::vector<std::vector<float>> lses;
    std::vector<Partial> parts;
    const std::vector<int64_t> cuts = {0, 13, 13, 64, 90};
    for (size_t n = 0; n + 1 < cuts.size(); ++n) {
      Library library(c);
      library.problem.shape.keys = cuts[n + 1] - cuts[n];
      library.inputs.k.data += cuts[n] * 8;
      library.inputs.v.data += cuts[n] * 7;
      library.problem.region.mask += cuts[n];
      const Status status = library.forward();
      ASSERT_TRUE(status.ok()) << status.message();
      outs.push_back(library.results.out);
      lses.push_back(library.results.lse);
    }
    for (size_t n = 0; n < outs.size(); ++n)
      parts.push_back({contiguous<const float>(outs[n].data(), 3, 17, 7), lses[n].data()});
    std::vector<float> out = unwritten(outs[0].size()), lse = unwritten(lses[0].size());
    Library whole(c);
    ASSERT_TRUE(merge(whole.problem, parts.data(), static_cast<int64_t>(parts.size()), contiguous(out.data(), 3, 17, 7),
                      lse.data())
                    .ok());
    EXPECT_TRUE(expected.result_close("out", out));
    EXPECT_TRUE(expected.result_close("lse", lse));
  });
}

}  // namespace
}  // namespace heed::kernels::test
