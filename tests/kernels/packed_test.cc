// slow: 3 s
// Biases, guides and masks of packed queries: one row per query of any sequence, [total queries, most keys].
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/combinations.h"
#include "tests/kernels/expect.h"

namespace heed::kernels::test {
namespace {

/// Six sequences, two of them without pairs; `longest` queries in one.
Case ragged_case(int64_t longest, bool ragged_keys = true) {
  Case c({.heads = 2, .kv_heads = 1, .keys = ragged_keys ? 0 : 40, .dim = 6, .value_dim = 5});
  const std::vector<int64_t> keys = {5, 9, 0, 33, 131, 1};
  c.with_ragged({0, 17, 1, 4, longest, 3}, ragged_keys ? keys : std::vector<int64_t>{});
  c.problem.bias.packed = c.problem.guide.packed = c.problem.region.mask_packed = true;
  return c;
}

TEST(Packed, EveryBroadcast) {
  for (const bool ragged_keys : {true, false})
    for (int axes = 0; axes < 8; ++axes) {
      SCOPED_TRACE(testing::Message() << "head " << (axes & 1) << " query " << (axes >> 1 & 1) << " key " << (axes >> 2)
                                      << " ragged keys " << ragged_keys);
      Case c = ragged_case(110, ragged_keys);
      c.with_tensor(false, axes & 1, axes & 2, axes & 4).with_guide_tensor(false, axes & 1, axes & 2, axes & 4);
      expect_like_reference(c.fill(axes + 1), {.weights = true});
    }
}

class PackedWith : public testing::TestWithParam<Part> {};

TEST_P(PackedWith, EveryMask) {
  for (const MaskKind kind : {MaskKind::bytes, MaskKind::bits})
    for (const bool per_head : {false, true}) {
      SCOPED_TRACE(testing::Message() << (kind == MaskKind::bits ? "bits" : "bytes") << ", per head " << per_head);
      Case c = ragged_case(110);
      GetParam().apply(c);
      c.with_mask(kind, false, per_head)
          .with_tensor(false, true, true, true)
          .with_guide_tensor(false, false, true, true);
      ASSERT_TRUE(fill_smooth(c, 5, 1e-6));
      expect_like_reference(c, {.weights = true});
    }
}

INSTANTIATE_TEST_SUITE_P(Normalisers, PackedWith, testing::ValuesIn(all_normalisers()),
                         [](const auto& info) { return info.param.name; });

// The same numbers padded to [B, H, longest Tq, longest Tk] give the same bits, and the same tiles are visited.
TEST(Packed, SameBitsAsPadded) {
  Case packed = ragged_case(110);
  packed.with_mask(MaskKind::bytes, false, true).with_tensor(false, true, true, true);
  packed.with_guide_tensor(false, true, true, true).fill(7);
  const Region& rows = packed.problem.region;
  // Half of the longest sequence's keys hidden: whole tiles that nobody visits.
  for (int64_t h = 0; h < 2; ++h)
    for (int64_t i = packed.query_offsets[4]; i < packed.query_offsets[5]; ++i)
      std::fill_n(packed.mask.begin() + h * rows.mask_head + i * rows.mask_query, 124, uint8_t(0));

  Case padded = packed;
  padded.problem.bias.packed = padded.problem.guide.packed = padded.problem.region.mask_packed = false;
  padded.with_mask(MaskKind::bytes, true, true).with_tensor(true, true, true, true);
  padded.with_guide_tensor(true, true, true, true);
  const auto each_pair = [&](auto f) {
    for (int64_t b = 0; b < packed.shape().batch; ++b)
      for (int64_t h = 0; h < 2; ++h)
        for (int64_t i = 0; i < packed.queries(b); ++i)
          for (int64_t j = 0; j < packed.keys(b); ++j)
            f(h, packed.query_offsets[b] + i, padded.pair_index(b, h, i, j), j);
  };
  each_pair([&](int64_t h, int64_t row, int64_t pair, int64_t j) {
    padded.mask[pair] = packed.mask[h * rows.mask_head + row * rows.mask_query + j];
    padded.x.bias_tensor[pair] =
        packed.x.bias_tensor[h * packed.problem.bias.head + row * packed.problem.bias.query + j];
    padded.guide_tensor[pair] =
        packed.guide_tensor[h * packed.problem.guide.head + row * packed.problem.guide.query + j];
  });

  on_every_isa([&] {
    Library a(packed, {}, 1), b(padded, {}, 1), threads(packed, {}, 3);
    for (Library* library : {&a, &b, &threads})
      ASSERT_TRUE(library->forward().ok() && library->backward().ok() && library->weights().ok());
    const Explanation of_packed = explain(a.problem), of_padded = explain(b.problem);
    EXPECT_EQ(of_packed.visited_pairs, of_padded.visited_pairs);
    EXPECT_LT(of_packed.visited_pairs, of_packed.pairs);
    const Named<float> results = a.results.named(), same = b.results.named();
    for (size_t n = 0; n < results.size(); ++n)
      EXPECT_TRUE(same_bits(*results[n].second, *same[n].second)) << results[n].first;
    const Named<float> gradients = a.grad.named(), d_same = b.grad.named(), d_threads = threads.grad.named();
    for (size_t n = 0; n < gradients.size(); ++n) {
      EXPECT_TRUE(same_bits(*gradients[n].second, *d_threads[n].second)) << "d_" << gradients[n].first;
      if (gradients[n].first == "bias_tensor") continue;  // of another layout: below
      EXPECT_TRUE(same_bits(*gradients[n].second, *d_same[n].second)) << "d_" << gradients[n].first;
    }
    each_pair([&](int64_t h, int64_t row, int64_t pair, int64_t j) {
      const int64_t at = h * packed.problem.bias.head + row * packed.problem.bias.query + j;
      ASSERT_EQ(a.grad.bias_tensor[at], b.grad.bias_tensor[pair]) << "head " << h << ", row " << row << ", key " << j;
    });
  });
}

// Without a query axis a packed bias is shared by all sequences: they add to its gradient in turns.
TEST(Packed, SharedByAllSequences) {
  Case c({.heads = 2, .dim = 4, .value_dim = 3});
  c.with_ragged({100, 97, 5, 110, 64, 1}, {50, 130, 20, 125, 1, 90});
  c.problem.bias.packed = true;
  c.with_tensor(false, false, false, true).fill(8);
  Library one(c, {}, 1);
  ASSERT_TRUE(one.forward().ok() && one.backward().ok());
  for (int run = 0; run < 20; ++run) {
    Library many(c, {}, 3);
    ASSERT_TRUE(many.forward().ok() && many.backward().ok());
    ASSERT_TRUE(same_bits(one.grad.bias_tensor, many.grad.bias_tensor));
  }
}

}  // namespace
}  // namespace heed::kernels::test
