// int8 weights: against a plain integer reference, to the last bit, on every instruction set and with each way to
// multiply.
#include <cmath>
#include <cstring>
#include <limits>

#include "heed/base/int8.h"
#include "heed/tensor/format/all.h"
#include "heed/tensor/format/int8_view.h"
#include "heed/tensor/product.h"
#include "tests/tensor/gradient_check.h"
#include "tests/threads.h"

namespace heed::test {
namespace {

/// The definition once more, with other means: largest / 127 cut to 16 bits of fraction, quotients rounded by libm.
struct PlainRounded {
  float scale = 0;
  std::vector<int64_t> integers;
};

PlainRounded plainly_rounded(const float* numbers, int64_t count, int64_t stride) {
  float largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(numbers[i * stride]));
  PlainRounded r;
  int exponent = 0;
  const float fraction = std::frexp(largest / 127.0f, &exponent);
  r.scale = std::ldexp(std::floor(fraction * 65536.0f), exponent - 16);
  for (int64_t i = 0; i < count; ++i)
    r.integers.push_back(r.scale == 0 ? 0
                                      : static_cast<int64_t>(std::nearbyint(numbers[i * stride] * (1.0f / r.scale))));
  return r;
}

struct Int8Sizes {
  int64_t rows, in, out;
};
constexpr Int8Sizes kInt8Sizes[] = {{1, 1, 1},      {5, 7, 1},     {1, 63, 65}, {2, 64, 130},
                                    {3, 257, 96},   {1, 512, 300}, {4, 33, 31}, {25, 600, 32},
                                    {13, 129, 161}, {70, 16, 64},  {150, 5, 17}};

/// Numbers of very different sizes, also none at all.
std::vector<float> uneven(int64_t rows, int64_t cols) {
  std::vector<float> numbers = to_float(random(rows, cols));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) {
      float& x = numbers[static_cast<size_t>(r * cols + c)];
      x *= r % 5 == 4 ? 0.0f : std::ldexp(1.0f, static_cast<int>(r % 7) * 5 - 10);
      if (c % 11 == 3) x = 0;
    }
  return numbers;
}

struct Int8Case {
  Int8Sizes s;
  std::vector<float> x, w, bias;

  explicit Int8Case(const Int8Sizes& sizes)
      : s(sizes), x(uneven(s.rows, s.in)), w(uneven(s.out, s.in)), bias(to_float(random(1, s.out))) {}

  std::vector<float> right() const {
    std::vector<float> y;
    std::vector<PlainRounded> columns;
    for (int64_t o = 0; o < s.out; ++o) columns.push_back(plainly_rounded(w.data() + o * s.in, s.in, 1));
    for (int64_t r = 0; r < s.rows; ++r) {
      const PlainRounded row = plainly_rounded(x.data() + r * s.in, s.in, 1);
      for (size_t o = 0; o < columns.size(); ++o) {
        int64_t dot = 0;
        for (size_t i = 0; i < row.integers.size(); ++i) dot += row.integers[i] * columns[o].integers[i];
        const float scale = row.scale * columns[o].scale;
        const float product = static_cast<float>(dot) * scale;
        y.push_back(bias[o] + product);
      }
    }
    return y;
  }
  std::vector<float> product() const {
    const auto packed = int8_weights.pack({w.data(), s.in, s.out, WeightOrder::out_in});
    std::vector<float> y(static_cast<size_t>(s.rows * s.out), std::numeric_limits<float>::quiet_NaN());
    multiply(*packed, {.rows = s.rows, .x = x.data(), .bias = bias.data(), .y = y.data()});
    return y;
  }
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// with(): once with four products at a time where this CPU can, once without.
template <class With>
void both_ways(const With& with) {
  for (const QuadDots which : {QuadDots::never, QuadDots::always}) {
    use_quad_dots(which);
    SCOPED_TRACE(testing::Message() << "quads: " << quad_dots());
    with();
  }
  use_quad_dots(QuadDots::of_cpu);
}

TEST(Int8, IsTheSameIntegersOnEveryInstructionSet) {
  for (const Int8Sizes& s : kInt8Sizes) {
    const Int8Case one(s);
    const std::vector<float> right = one.right();
    on_every_isa([&] {
      both_ways([&] {
        for (const int threads : {1, 3}) {
          const Threads some(threads);
          EXPECT_TRUE(same_bits(one.product(), right)) << s.rows << " " << s.in << " " << s.out << " " << threads;
        }
      });
    });
  }
}

/// Every row and column at its limit, so that each sum is as large as it can be: nothing saturates.
TEST(Int8, LargestSumsAreExact) {
  constexpr int64_t in = 4096, out = 33;
  for (const float sign : {1.0f, -1.0f}) {
    const std::vector<float> x(in, sign), w(static_cast<size_t>(in * out), 1.0f);
    const auto packed = int8_weights.pack({w.data(), in, out, WeightOrder::out_in});
    const float scale = int8_scale(size_bits(1.0f)).scale;
    on_every_isa([&] {
      both_ways([&] {
        std::vector<float> y(out);
        multiply(*packed, {.rows = 1, .x = x.data(), .y = y.data()});
        for (const float each : y) ASSERT_EQ(each, sign * static_cast<float>(in * 127 * 127) * (scale * scale));
      });
    });
  }
}

/// |y - exact| <= sum_i (|x_i| s_w + |w_i| s_x + s_x s_w / 2) / 2, where s is the width of a step: half a step is lost
/// on either side.
TEST(Int8, LosesHalfAStepAtMost) {
  for (const Int8Sizes& s : kInt8Sizes) {
    const Int8Case one(s);
    const std::vector<float> y = one.product();
    for (int64_t r = 0; r < s.rows; ++r)
      for (int64_t o = 0; o < s.out; ++o) {
        const float *x = one.x.data() + r * s.in, *w = one.w.data() + o * s.in;
        const double x_step = plainly_rounded(x, s.in, 1).scale, w_step = plainly_rounded(w, s.in, 1).scale;
        double exact = one.bias[static_cast<size_t>(o)], bound = 0;
        for (int64_t i = 0; i < s.in; ++i) {
          exact += double{x[i]} * w[i];
          bound += (std::fabs(x[i]) * w_step + std::fabs(w[i]) * x_step + x_step * w_step / 2) / 2;
        }
        // The largest number becomes 127 although the scale was cut: 127 * 2^-15 of a step more. And float32 rounds.
        bound = bound * (1 + 0x1p-7) + (std::fabs(exact) + bound) * 0x1p-22;
        const double got = y[static_cast<size_t>(r * s.out + o)];
        ASSERT_LE(std::fabs(got - exact), bound) << s.rows << " " << s.in << " " << s.out << ": " << r << ", " << o;
      }
  }
}

TEST(Int8, AddsToWhatIsThere) {
  const Int8Case one({5, 70, 45});
  const auto packed = int8_weights.pack({one.w.data(), 70, 45, WeightOrder::out_in});
  std::vector<float> plain(5 * 45), twice;
  multiply(*packed, {.rows = 5, .x = one.x.data(), .y = plain.data()});
  on_every_isa([&] {
    both_ways([&] {
      twice = plain;
      multiply(*packed, {.rows = 5, .x = one.x.data(), .y = twice.data(), .add = true});
      for (size_t i = 0; i < plain.size(); ++i) ASSERT_EQ(twice[i], plain[i] + plain[i]);
    });
  });
}

/// What is rounded once is not changed by rounding it again: of any size, in either order.
TEST(Int8, RoundingTwiceIsRoundingOnce) {
  for (int power = -95; power < 120; power += 5) {
    std::vector<float> w = to_float(random(40, 50));
    for (float& x : w) x = std::ldexp(x, power);
    for (const WeightOrder order : {WeightOrder::out_in, WeightOrder::in_out}) {
      const auto packed = int8_weights.pack({w.data(), 50, 40, order});
      std::vector<float> once(w.size()), twice(w.size());
      packed->unpack(order, once.data());
      int8_weights.pack({once.data(), 50, 40, order})->unpack(order, twice.data());
      ASSERT_TRUE(same_bits(once, twice)) << power;
      EXPECT_NE(once, w);
    }
  }
}

TEST(Int8, TiesGoToTheEvenInteger) {
  const Int8Scale s = int8_scale(size_bits(127.0f));
  EXPECT_EQ(s.scale, 1.0f);
  EXPECT_EQ(int8_of(0.5f, s.inverse), 0);
  EXPECT_EQ(int8_of(1.5f, s.inverse), 2);
  EXPECT_EQ(int8_of(-2.5f, s.inverse), -2);
  EXPECT_EQ(int8_of(-126.5f, s.inverse), -126);
  EXPECT_EQ(int8_of(-127.0f, s.inverse), -127);
}

TEST(Int8, RowsWithoutASizeAreZerosOrNaN) {
  const Int8Case one({6, 70, 40});
  const auto packed = int8_weights.pack({one.w.data(), 70, 40, WeightOrder::out_in});
  const std::vector<float> before = one.product();
  std::vector<float> x = one.x;
  x[70 + 3] = std::numeric_limits<float>::quiet_NaN();
  x[2 * 70 + 69] = std::numeric_limits<float>::infinity();
  std::fill(x.begin() + 3 * 70, x.begin() + 4 * 70, std::numeric_limits<float>::denorm_min());
  on_every_isa([&] {
    both_ways([&] {
      std::vector<float> y(6 * 40);
      multiply(*packed, {.rows = 6, .x = x.data(), .bias = one.bias.data(), .y = y.data()});
      for (size_t c = 0; c < 40; ++c) {
        EXPECT_TRUE(std::isnan(y[40 + c]) && std::isnan(y[80 + c]));
        EXPECT_EQ(y[3 * 40 + c], one.bias[c]);
        for (const size_t r : {size_t{0}, size_t{4}, size_t{5}}) EXPECT_EQ(y[r * 40 + c], before[r * 40 + c]);
      }
    });
  });
}

TEST(Int8, IsAQuarter) {
  const std::vector<float> w = to_float(random(512, 512));
  const WeightView view{w.data(), 512, 512, WeightOrder::out_in};
  EXPECT_EQ(int8_weights.pack(view)->bytes(), 512u * 512 + 512 * 8);
  EXPECT_LE(int8_weights.pack(view)->bytes() * 10, float32_weights.pack(view)->bytes() * 3);
}

TEST(Int8, TooManyInputsAreRefused) {
  constexpr int64_t in = (1 << 17) + 1;
  const std::vector<float> w(in, 1.0f);
  expect_error(
      [&] {
        int8_weights.pack({w.data(), in, 1, WeightOrder::out_in});
      },
      "int8: a weight [out, in] can have at most 131072 inputs, got [1, 131073]: bfloat16 or float32 can have more");
}

}  // namespace
}  // namespace heed::test
