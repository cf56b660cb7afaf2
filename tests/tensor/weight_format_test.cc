// Every format of packed weights: it multiplies by exactly the numbers that it gives back. One that rounds the rows too
// has tests of its own (int8_test.cc).
#include "heed/tensor/format/all.h"

#include <cmath>
#include <cstring>

#include "heed/base/dtype.h"
#include "heed/tensor/product.h"
#include "tests/tensor/gradient_check.h"
#include "tests/threads.h"

namespace heed::test {
namespace {

struct FormatSizes {
  int64_t rows, in, out;
};
constexpr FormatSizes kFormatSizes[] = {{1, 1, 1},    {5, 7, 1},    {1, 63, 65},   {13, 33, 31},
                                        {2, 257, 96}, {3, 64, 130}, {25, 600, 32}, {70, 129, 161}};

std::vector<float> product_of(const PackedWeight& weight, const std::vector<float>& x, int64_t rows) {
  const std::vector<float> bias(static_cast<size_t>(weight.out()), 0.25f);
  std::vector<float> y(static_cast<size_t>(rows * weight.out()));
  multiply(weight, {.rows = rows, .x = x.data(), .bias = bias.data(), .y = y.data()});
  return y;
}

class Format : public testing::TestWithParam<const WeightFormat*> {};

TEST_P(Format, MultipliesByTheNumbersThatItGivesBack) {
  on_every_isa([] {
    for (const FormatSizes& s : kFormatSizes) {
      SCOPED_TRACE(testing::Message() << s.rows << " " << s.in << " " << s.out);
      const std::vector<float> w = to_float(random(s.out, s.in)), x = to_float(random(s.rows, s.in));
      const auto packed = GetParam()->pack({w.data(), s.in, s.out, WeightOrder::out_in});
      EXPECT_EQ(&packed->format(), GetParam());
      std::vector<float> back(w.size());
      packed->unpack(WeightOrder::out_in, back.data());
      // The product of float32 with these numbers, to the last bit.
      const auto plain = float32_weights.pack({back.data(), s.in, s.out, WeightOrder::out_in});
      const std::vector<float> y = product_of(*packed, x, s.rows);
      if (!rounds_rows(*GetParam())) {
        EXPECT_EQ(y, product_of(*plain, x, s.rows));
      }
      for (int64_t r = 0; r < s.rows; ++r) {  // and a row does not depend on the others
        const std::vector<float> one(x.begin() + r * s.in, x.begin() + (r + 1) * s.in);
        const std::vector<float> alone = product_of(*packed, one, 1);
        ASSERT_TRUE(std::equal(alone.begin(), alone.end(), y.begin() + r * s.out)) << r;
      }
    }
  });
}

TEST_P(Format, BothOrdersAreTheSameWeight) {
  constexpr int64_t in = 37, out = 45;
  const std::vector<float> w = to_float(random(out, in));
  std::vector<float> turned(w.size()), row(45);
  for (int64_t o = 0; o < out; ++o)
    for (int64_t i = 0; i < in; ++i) turned[static_cast<size_t>(i * out + o)] = w[static_cast<size_t>(o * in + i)];
  const auto packed = GetParam()->pack({w.data(), in, out, WeightOrder::out_in});
  const auto other = GetParam()->pack({turned.data(), in, out, WeightOrder::in_out});
  for (const WeightOrder order : {WeightOrder::out_in, WeightOrder::in_out}) {
    std::vector<float> a(w.size()), b(w.size());
    packed->unpack(order, a.data());
    other->unpack(order, b.data());
    EXPECT_EQ(a, b);
    if (GetParam()->exact) {
      EXPECT_EQ(a, order == WeightOrder::out_in ? w : turned);
    }
    const int64_t cols = order == WeightOrder::out_in ? in : out;
    packed->row(order, 36, row.data());
    EXPECT_TRUE(std::equal(row.begin(), row.begin() + cols, a.begin() + 36 * cols));
  }
  // Over the old one.
  const std::vector<float> next = to_float(random(out, in));
  other->copy({next.data(), in, out, WeightOrder::out_in});
  const auto fresh = GetParam()->pack({next.data(), in, out, WeightOrder::out_in});
  std::vector<float> a(w.size()), b(w.size());
  other->unpack(WeightOrder::out_in, a.data());
  fresh->unpack(WeightOrder::out_in, b.data());
  EXPECT_EQ(a, b);
}

INSTANTIATE_TEST_SUITE_P(All, Format, testing::ValuesIn(all_weight_formats()),
                         [](const auto& info) { return info.param->name; });

TEST(WeightFormats, Bfloat16IsRoundedAndHalfAsLarge) {
  const std::vector<float> w = to_float(random(64, 50));
  const auto packed = bfloat16_weights.pack({w.data(), 50, 64, WeightOrder::out_in});
  std::vector<float> back(w.size());
  packed->unpack(WeightOrder::out_in, back.data());
  for (size_t i = 0; i < w.size(); ++i) ASSERT_EQ(back[i], float_of_bf16(bf16_of(w[i])));
  EXPECT_NE(back, w);
  EXPECT_EQ(packed->bytes(), 64u * 50 * 2);
  EXPECT_EQ(float32_weights.pack({w.data(), 50, 64, WeightOrder::out_in})->bytes(), 64u * 50 * 4);
}

TEST(WeightFormats, AreFoundByName) {
  EXPECT_EQ(&find_weight_format("bfloat16"), &bfloat16_weights);
  expect_error([] { find_weight_format("bfloat"); },
               "there is no precision 'bfloat'; did you mean 'bfloat16'? There are: float32, bfloat16, int8");
}

}  // namespace
}  // namespace heed::test
