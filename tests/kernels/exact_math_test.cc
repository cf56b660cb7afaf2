#include "heed/kernels/exact_math.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

namespace heed::exact {
namespace {

/// Distance in units of the last place of `right`.
double ulps(double got, long double right) {
  const double near = static_cast<double>(right);
  const double unit = std::nextafter(std::abs(near), INFINITY) - std::abs(near);
  return static_cast<double>(std::abs(static_cast<long double>(got) - right) / static_cast<long double>(unit));
}

/// `f` at many places between low and high.
template <class F>
void scan(double low, double high, const F& f) {
  constexpr int kPlaces = 200'000;
  for (int i = 0; i <= kPlaces; ++i) f(low + (high - low) * (i + 0.3) / kPlaces);
}

TEST(ExactMath, Exponential) {
  double worst = 0.0;
  for (const double reach : {0.5, 5.0, 708.0})
    scan(-reach, reach,
         [&](double x) { worst = std::max(worst, ulps(exp(x), std::exp(static_cast<long double>(x)))); });
  EXPECT_LE(worst, 1.0);
  EXPECT_EQ(exp(0.0), 1.0);
  EXPECT_EQ(exp(-INFINITY), 0.0);
  EXPECT_EQ(exp(INFINITY), INFINITY);
  EXPECT_EQ(exp(710.0), INFINITY);
  EXPECT_EQ(exp(-746.0), 0.0);
  EXPECT_LE(std::abs(exp(-740.0) - std::exp(-740.0)), std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::isnan(exp(NAN)));
}

TEST(ExactMath, Logarithm) {
  double worst = 0.0;
  const auto check = [&](double x) { worst = std::max(worst, ulps(log(x), std::log(static_cast<long double>(x)))); };
  scan(0.5, 2.0, check);
  scan(1e-9, 1.0, check);
  scan(1.0, 1e9, check);
  for (int n = -1070; n < 1020; ++n) check(std::ldexp(1.234, n));
  EXPECT_LE(worst, 1.0);
  EXPECT_EQ(log(1.0), 0.0);
  EXPECT_EQ(log(0.0), -INFINITY);
  EXPECT_EQ(log(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(log(-1.0)));
  EXPECT_TRUE(std::isnan(log(NAN)));
}

TEST(ExactMath, SineAndCosine) {
  double worst = 0.0;
  for (const double reach : {1.0, 100.0, 1e4, 1e6})
    scan(-reach, reach, [&](double x) {
      const auto [sin, cos] = sin_cos(x);
      const auto exact = static_cast<long double>(x);
      worst = std::max(worst, static_cast<double>(std::abs(static_cast<long double>(sin) - std::sin(exact))));
      worst = std::max(worst, static_cast<double>(std::abs(static_cast<long double>(cos) - std::cos(exact))));
    });
  EXPECT_LE(worst, 2e-16);
  worst = 0.0;
  scan(-2.0, 2.0, [&](double t) {
    const long double right = std::cos(2.0L * std::numbers::pi_v<long double> * static_cast<long double>(t));
    worst = std::max(worst, static_cast<double>(std::abs(static_cast<long double>(cos_turns(t)) - right)));
  });
  EXPECT_LE(worst, 2e-16);
  EXPECT_EQ(cos_turns(0.0), 1.0);
  EXPECT_EQ(cos_turns(0.25), 0.0);
  EXPECT_EQ(cos_turns(0.5), -1.0);
}

TEST(ExactMath, Powers) {
  EXPECT_EQ(power(0.5, int64_t{10}), 0x1p-10);
  EXPECT_EQ(power(0.0, int64_t{0}), 1.0);
  EXPECT_NEAR(power(0.999, int64_t{12345}), std::pow(0.999, 12345.0), 1e-15);
  scan(-1.0, 1.0,
       [&](double y) { EXPECT_NEAR(power(10000.0, y), std::pow(10000.0, y), 2e-15 * std::pow(10000.0, y)); });
}

/// Bits that no machine may change: the hash of many results, made once.
TEST(ExactMath, TheSameBitsEverywhere) {
  uint64_t hash = 0xCBF29CE484222325u;
  const auto add = [&](double value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 0x100000001B3u;
  };
  for (int i = 1; i < 10'000; ++i) {
    const double x = i * 0x1.3p-6;
    add(exp(x - 70.0)), add(log(x)), add(sin_cos(x).sin), add(sin_cos(x).cos), add(cos_turns(x));
  }
  EXPECT_EQ(hash, 1930460110691599965u);
}

}  // namespace
}  // namespace heed::exact
