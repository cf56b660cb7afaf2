// explain(): which path, how many pairs, and why not.
#include <gtest/gtest.h>

#include "heed/kernels/attention.h"

namespace heed::kernels {
namespace {

Problem square(int64_t tokens) {
  Problem p;
  p.shape = {.heads = 2, .queries = tokens, .keys = tokens, .dim = 64, .value_dim = 64};
  return p;
}

TEST(Explain, CountsPairs) {
  Problem p = square(1000);
  const Explanation all = explain(p);
  EXPECT_TRUE(all.possible);
  EXPECT_EQ(all.path, "tiles");
  EXPECT_EQ(all.pairs, 2 * 1000 * 1000);
  EXPECT_EQ(all.visited_pairs, all.pairs);
  EXPECT_EQ(all.isa, isa());
  EXPECT_GT(all.scratch_bytes, 0);

  p.region.causal = true;
  const Explanation causal = explain(p);
  EXPECT_GE(causal.visited_pairs, 1000 * 1001);
  EXPECT_LE(causal.visited_pairs, 1000 * 1001 * 1.05);

  p.region.causal = false;
  p.region.window_left = p.region.window_right = 10;
  const Explanation window = explain(p);
  EXPECT_GE(window.visited_pairs, 2 * (1000 * 21 - 110));
  EXPECT_LE(window.visited_pairs, 2 * 1000 * 21 * 3);
}

TEST(Explain, EmptyMaskedTilesAreNotVisited) {
  Problem p = square(480);
  std::vector<uint8_t> mask(480 * 480, 0);
  for (int i = 0; i < 100; ++i)
    for (int j = 0; j < 100; ++j) mask[i * 480 + j] = 1;
  p.region.mask = mask.data();
  p.region.mask_query = 480;
  EXPECT_LE(explain(p).visited_pairs, 2 * 192 * 120);
}

TEST(Explain, NamesThePath) {
  Problem p = square(100);
  p.normalise.kind = Normaliser::sparsemax;
  EXPECT_EQ(explain(p).path, "strip");
  p.normalise.kind = Normaliser::softmax;
  p.shape.queries = 1;
  EXPECT_EQ(explain(p).path, "decode");
}

TEST(Explain, RefusesWithAllReasons) {
  Problem p = square(100);
  p.shape.kv_heads = 3;
  p.dropout.p = 1.5f;
  const Explanation e = explain(p);
  EXPECT_FALSE(e.possible);
  EXPECT_NE(e.text.find("kv_heads"), std::string::npos);
  EXPECT_NE(e.text.find("dropout"), std::string::npos);
}

// The cache of each sequence is filled to its own length: the last query stands on the last key that counts.
TEST(Align, BottomRightRespectsLengths) {
  Problem p;
  p.shape = {.batch = 2, .heads = 1, .queries = 1, .keys = 8, .dim = 1, .value_dim = 8};
  const int32_t lengths[2] = {3, 8};
  p.region.key_lengths = lengths;
  p.region.causal = true;
  p.region.align = Align::bottom_right;
  const std::vector<float> q(2, 0.0f), k(16, 0.0f);
  std::vector<float> v(2 * 64, 0.0f), out(16);
  for (int b = 0; b < 2; ++b)
    for (int j = 0; j < 8; ++j) v[b * 64 + j * 8 + j] = 1.0f;
  const Status status = forward(
      p, {contiguous(q.data(), 1, 1, 1), contiguous(k.data(), 1, 8, 1), contiguous<const float>(v.data(), 1, 8, 8)},
      {.out = contiguous(out.data(), 1, 1, 8)});
  ASSERT_TRUE(status.ok()) << status.message();
  for (int j = 0; j < 8; ++j) {
    EXPECT_FLOAT_EQ(out[j], j < 3 ? 1.0f / 3.0f : 0.0f);
    EXPECT_FLOAT_EQ(out[8 + j], 1.0f / 8.0f);
  }
}

}  // namespace
}  // namespace heed::kernels
