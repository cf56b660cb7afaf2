// Scalar exp, log, sine and cosine, with the same bits on every machine.
//
// The functions of libm may differ in their last bits between versions, and glibc chooses between several of each by
// CPU. These use + - * / alone, which IEEE 754 defines to the last bit. So everything that depends on them is exact
// too: initial values, learning rates, positions, losses. The sources that use them are compiled with
// -ffp-contract=off, like the rest of the library. Accuracy is stated here and repeated by tests.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace heed::exact {

namespace internal {

/// To the nearest integer, for |x| < 2^51: adding drops the fraction bits.
inline double round(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

/// 2^n for -1022 <= n <= 1023.
inline double power_of_two(int64_t n) { return std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52); }

/// c[0] + c[1] x + c[2] x^2 + ...
template <int kCount>
double polynomial(const double (&c)[kCount], double x) {
  double sum = c[kCount - 1];
  for (int i = kCount - 2; i >= 0; --i) sum = sum * x + c[i];
  return sum;
}

/// ln 2 in two parts: the first has 20 zeros at its end, so that its product with an exponent is exact.
inline constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;

/// sin r and cos r for |r| <= pi / 4, by their series.
inline double sin_small(double r) {
  constexpr double c[] = {-1.0 / 6,
                          1.0 / 120,
                          -1.0 / 5040,
                          1.0 / 362880,
                          -1.0 / 39916800.0,
                          1.0 / 6227020800.0,
                          -1.0 / 1307674368000.0,
                          1.0 / 355687428096000.0};
  const double z = r * r;
  return r + r * (z * polynomial(c, z));
}
inline double cos_small(double r) {
  constexpr double c[] = {1.0 / 24,          -1.0 / 720,           1.0 / 40320,           -1.0 / 3628800,
                          1.0 / 479001600.0, -1.0 / 87178291200.0, 1.0 / 20922789888000.0};
  const double z = r * r, half = 0.5 * z;
  const double rest = 1.0 - half;
  return rest + (((1.0 - rest) - half) + z * z * polynomial(c, z));
}

struct SinCos {
  double sin, cos;
};

/// After `quarters` quarter turns and r more.
inline SinCos turned(int64_t quarters, double r) {
  const double s = sin_small(r), c = cos_small(r);
  switch (quarters & 3) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

}  // namespace internal

using internal::SinCos;

/// e^x, 1 ULP: 2^n e^r with n = round(x / ln 2).
inline double exp(double x) {
  if (x != x) return x;
  if (x > 709.782712893384) return std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0.0;
  constexpr double c[] = {0.5,           1.0 / 6,          1.0 / 24,          1.0 / 120,
                          1.0 / 720,     1.0 / 5040,       1.0 / 40320,       1.0 / 362880,
                          1.0 / 3628800, 1.0 / 39916800.0, 1.0 / 479001600.0, 1.0 / 6227020800.0};
  const double n = internal::round(x * 0x1.71547652b82fep0);
  const double high = x - n * internal::kLn2High, low = n * internal::kLn2Low;
  const double r = high - low;
  // e^r - 1 = r + r^2 / 2 + ...; the rounding error of r is added back.
  const double p = 1.0 + (r + (((high - r) - low) + r * r * internal::polynomial(c, r)));
  // In two steps: 2^n alone may underflow or overflow a double even if the product does not.
  const auto whole = static_cast<int64_t>(n), half = whole / 2;
  return p * internal::power_of_two(half) * internal::power_of_two(whole - half);
}

/// The natural logarithm, 1 ULP; -inf at 0, NaN below.
inline double log(double x) {
  if (!(x > 0.0)) return x == 0.0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (x > std::numeric_limits<double>::max()) return x;
  int64_t exponent = 0;
  if (x < std::numeric_limits<double>::min()) x *= 0x1p54, exponent = -54;
  // x = 2^exponent (1 + f) with 1 + f between sqrt(1/2) and sqrt(2)
  const auto bits = std::bit_cast<uint64_t>(x);
  exponent += static_cast<int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFu) | 0x3FF0000000000000u);
  if (m > 1.4142135623730951) m *= 0.5, ++exponent;
  const double f = m - 1.0, s = f / (2.0 + f), z = s * s;
  // log(1 + f) = 2 s + 2 s^3 / 3 + 2 s^5 / 5 + ...,  and  2 s = f - s f,  s f = f^2 / 2 - s f^2 / 2
  constexpr double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                          2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
  const double square = 0.5 * f * f, n = static_cast<double>(exponent);
  const double rest = s * (square + z * internal::polynomial(c, z));
  return n * internal::kLn2High - ((square - (rest + n * internal::kLn2Low)) - f);
}

/// Sine and cosine of x, within 2e-16 for |x| <= 10^6. (Beyond that they lose accuracy as x itself does, but are still
/// the same on every machine.)
inline SinCos sin_cos(double x) {
  // pi / 2 in three parts; the products of the first two with n are exact for n < 2^20.
  const double n = internal::round(x * 0x1.45f306dc9c883p-1);
  const double r = ((x - n * 0x1.921fb544p0) - n * 0x1.0b4611a6p-34) - n * 0x1.3198a2e037073p-69;
  return internal::turned(static_cast<int64_t>(n), r);
}

/// cos(2 pi t), 1e-16: whole and quarter turns are subtracted exactly.
inline double cos_turns(double t) {
  const double quarters = internal::round(4.0 * t);
  return internal::turned(static_cast<int64_t>(quarters), (t - 0.25 * quarters) * 0x1.921fb54442d18p2).cos;
}

/// x^n by squaring, n >= 0.
inline double power(double x, int64_t n) {
  double result = 1.0;
  for (; n > 0; n >>= 1, x *= x)
    if (n & 1) result *= x;
  return result;
}

/// x^y for x > 0: e^(y log x), with a relative error of 2e-16 (1 + |y log x|).
inline double power(double x, double y) { return exp(y * log(x)); }

}  // namespace heed::exact
