// Every float16 and every bfloat16, and the way from float32 to them, beside the definition computed in double.
#include "heed/base/dtype.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace heed::test {
namespace {

struct SmallFloat {
  const char* name;
  Dtype type;
  int exponent_bits, fraction_bits;
  float (*to_float)(uint16_t);
  uint16_t (*from_float)(float);

  uint16_t infinity() const { return static_cast<uint16_t>(((1 << exponent_bits) - 1) << fraction_bits); }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  /// What the bits mean: (-1)^s 2^(e - bias) (1 + f), or without the 1 and with e = 1 where e is 0.
  double value(uint16_t bits) const {
    const int exponent = (bits & 0x7FFF) >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    if (exponent == (1 << exponent_bits) - 1)
      return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
    const double share = std::ldexp(fraction, -fraction_bits) + (exponent > 0 ? 1.0 : 0.0);
    return sign * std::ldexp(share, std::max(exponent, 1) - bias());
  }
  /// All positive ones in order, with the infinite one as the number that it begins at.
  std::vector<double> line() const {
    std::vector<double> all;
    for (uint32_t bits = 0; bits < infinity(); ++bits) all.push_back(value(static_cast<uint16_t>(bits)));
    all.push_back(std::ldexp(1.0, bias() + 1));
    return all;
  }
  /// The nearest of `line`; of two at the same distance the one with even bits.
  uint16_t nearest(const std::vector<double>& line, double number) const {
    const double size = std::abs(number);
    const auto above = std::lower_bound(line.begin(), line.end(), size);
    auto best = above == line.end() ? line.end() - 1 : above;
    if (best != line.begin() && above != line.end()) {
      const double up = *above - size, down = size - above[-1];
      const bool even_below = (above - 1 - line.begin()) % 2 == 0;
      if (down < up || (down == up && even_below)) best = above - 1;
    }
    return static_cast<uint16_t>((best - line.begin()) | (std::signbit(number) ? 0x8000 : 0));
  }
};

const SmallFloat kSmall[] = {{"float16", Dtype::f16, 5, 10, float_of_f16, f16_of},
                             {"bfloat16", Dtype::bf16, 8, 7, float_of_bf16, bf16_of}};

TEST(Dtype, EveryNumberOfSixteenBits) {
  for (const SmallFloat& type : kSmall) {
    SCOPED_TRACE(type.name);
    for (uint32_t all = 0; all < 65536; ++all) {
      const auto bits = static_cast<uint16_t>(all);
      const double expected = type.value(bits);
      const float number = type.to_float(bits);
      ASSERT_EQ(std::isnan(number), std::isnan(expected)) << all;
      if (!std::isnan(expected)) {
        ASSERT_EQ(static_cast<double>(number), expected) << all;
      }
      ASSERT_EQ(std::signbit(number), (bits & 0x8000) != 0) << all;
      ASSERT_EQ(type.from_float(number), bits) << "there and back, NaN with its bits: " << all;
    }
  }
}

TEST(Dtype, RoundsToTheNearestAndTiesToEven) {
  for (const SmallFloat& type : kSmall) {
    SCOPED_TRACE(type.name);
    const std::vector<double> line = type.line();
    const auto check = [&](float number) {
      ASSERT_EQ(type.from_float(number), type.nearest(line, static_cast<double>(number))) << number;
      ASSERT_EQ(type.from_float(-number), type.nearest(line, -static_cast<double>(number))) << -number;
    };
    int ties = 0;
    for (size_t i = 0; i + 1 < line.size(); ++i) {  // between any two neighbours
      const double middle = (line[i] + line[i + 1]) / 2;
      const auto tie = static_cast<float>(middle);
      ties += static_cast<double>(tie) == middle ? 1 : 0;
      check(tie);
      check(std::nextafter(tie, 0.0f));
      check(std::nextafter(tie, std::numeric_limits<float>::infinity()));
    }
    EXPECT_GT(ties, 31000) << "nearly all are float32";
    std::mt19937 random(1);
    for (int n = 0; n < 1'000'000; ++n) {  // any bits, so also float32's smallest and largest
      const float number = std::bit_cast<float>(static_cast<uint32_t>(random()) & 0x7FFFFFFF);
      if (!std::isnan(number)) check(number);
    }
  }
}

TEST(Dtype, TheEdges) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(f16_of(65504.0f), 0x7BFF);
  EXPECT_EQ(f16_of(65519.996f), 0x7BFF);
  EXPECT_EQ(f16_of(65520.0f), 0x7C00);
  EXPECT_EQ(f16_of(-1e30f), 0xFC00);
  EXPECT_EQ(f16_of(0x1p-25f), 0) << "a tie between 0 and the smallest: to even";
  EXPECT_EQ(f16_of(0x1.000002p-25f), 1);
  EXPECT_EQ(f16_of(-0.0f), 0x8000);
  EXPECT_EQ(f16_of(1e-45f), 0);
  EXPECT_EQ(bf16_of(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_EQ(bf16_of(1e-45f), 0);
  EXPECT_EQ(bf16_of(-0x1p-133f), 0x8001) << "the smallest";
  for (const SmallFloat& type : kSmall) {
    EXPECT_EQ(type.from_float(inf), type.infinity());
    // Whose upper bits are those of infinity.
    const uint16_t nan = type.from_float(std::bit_cast<float>(0xFF800001u));
    EXPECT_TRUE(std::isnan(type.to_float(nan)));
    EXPECT_TRUE(std::signbit(type.to_float(nan)));
  }
}

TEST(Dtype, ManyAtAnyAddress) {
  const std::vector<float> numbers = {1.0f, -2.5f, 0.0f, 65504.0f, 0x1p-24f, std::numeric_limits<float>::infinity()};
  for (const auto& [name, type, former] : kDtypes) {
    EXPECT_EQ(former, nullptr);
    SCOPED_TRACE(name);
    EXPECT_STREQ(name_of(type), name);
    if (type == Dtype::i8) continue;  // integers alone
    std::vector<std::byte> bytes(numbers.size() * bytes_of(type) + 1);
    const std::span odd(bytes.data() + 1, bytes.size() - 1);
    std::vector<float> back(numbers.size());
    EXPECT_EQ(write_numbers(type, numbers, odd), numbers.size());
    EXPECT_EQ(read_numbers(type, odd, back), numbers.size());
    if (type == Dtype::bf16)
      EXPECT_EQ(back[3], 65536.0f) << "rounded";
    else
      EXPECT_EQ(back, numbers);
    EXPECT_EQ(read_numbers(type, {}, {}), 0u);
    EXPECT_EQ(write_numbers(type, {}, {}), 0u);
  }
}

TEST(Dtype, SaysWhatDoesNotFit) {
  const std::vector<double> large = {1e300, 1.0, -1e39};
  std::vector<float> read(3);
  EXPECT_EQ(read_numbers(Dtype::f64, std::as_bytes(std::span(large)), read), 0u);
  EXPECT_EQ(read_numbers(Dtype::f64, std::as_bytes(std::span(large).subspan(1)), std::span(read).first(2)), 1u);
  const std::vector<double> odd = {std::numeric_limits<double>::infinity(), std::nan(""), 1e-300};
  EXPECT_EQ(read_numbers(Dtype::f64, std::as_bytes(std::span(odd)), read), 3u) << "these are what they were";
  EXPECT_TRUE(std::isinf(read[0]) && std::isnan(read[1]) && read[2] == 0.0f);
  std::vector<std::byte> bytes(4);
  EXPECT_EQ(write_numbers(Dtype::f16, std::vector<float>{1.0f, 70000.0f}, bytes), 1u);
  EXPECT_EQ(write_numbers(Dtype::bf16, std::vector<float>{1.0f, 70000.0f}, bytes), 2u);
  EXPECT_EQ(write_numbers(Dtype::bf16, std::vector<float>{-3.4e38f, 1.0f}, bytes), 0u);
}

TEST(Dtype, Int8IsTheNearestIntegerIfThereIsOne) {
  const std::vector<float> numbers = {0.0f, -0.4f, 1.5f, 2.5f, -127.6f, 127.49f, -128.5f};
  std::vector<std::byte> bytes(numbers.size());
  std::vector<float> back(numbers.size());
  EXPECT_EQ(write_numbers(Dtype::i8, numbers, bytes), numbers.size());
  EXPECT_EQ(read_numbers(Dtype::i8, bytes, back), numbers.size());
  EXPECT_EQ(back, (std::vector<float>{0, 0, 2, 2, -128, 127, -128}));
  for (const float bad : {127.5f, -128.6f, std::numeric_limits<float>::infinity(), std::nanf("")})
    EXPECT_EQ(write_numbers(Dtype::i8, std::vector<float>{1.0f, bad}, bytes), 1u) << bad;
}

/// A number of float64 is rounded once, to the nearest: 1 + 2^-24 is a tie, a little more is not.
TEST(Dtype, Float64IsRoundedOnce) {
  const std::vector<double> close = {1.0 + 0x1p-24, 1.0 + 0x1p-24 + 0x1p-52, 1.0 + 3 * 0x1p-24, 0x1p-150};
  std::vector<float> read(4);
  read_numbers(Dtype::f64, std::as_bytes(std::span(close)), read);
  EXPECT_EQ(read, (std::vector<float>{1.0f, 1.0f + 0x1p-23f, 1.0f + 0x1p-22f, 0.0f}));
}

}  // namespace
}  // namespace heed::test
