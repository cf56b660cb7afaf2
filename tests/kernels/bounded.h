// A number and how far float32 may be from it: the reference, run with these, says what is right and how wrong a right
// program may be, for each element of each result.
//
// u = 2^-24 is the largest relative error of one rounding. Errors that a number was computed from are carried along to
// first order, |f'| times each of them, all with the same sign; to that comes what the operation itself rounds:
//
//   a + b + c + ...   u (|sum| + sqrt(n - 2) (|a| + |b| + |c| + ...))    n terms, added in any order
//   a b, a / b        u |a b|, 4 u |a / b|                               a reciprocal of 2 ULP and a product
//   sqrt, log         2 u |f|, 4 u (|f| + 1)
//   exp               4 u |f| + the smallest normal float                2 ULP, as heed/kernels/simd/math-inl.h states;
//                                                                        0 instead of what is below it
//   tanh, erfc        8 u                                                absolute: they come from 1 - 2 / (1 + e^2x)
//
// The sum is where a bound decides: in the worst case n terms cost (n - 1) u, but roundings have both signs, and then
// sqrt(n) u is what they exceed with a probability that does not depend on n (Higham and Mary 2019, A new approach to
// probabilistic rounding error analysis). So this follows from the formula alone; nothing in it was measured, on any
// machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace heed::kernels::test {

class Bounded {
 public:
  static constexpr double kUnit = 0x1p-24;

  Bounded(double value = 0.0) : value_(value), terms_(std::abs(value)) {}  // NOLINT: a number is an exact one
  Bounded(double value, double error) : value_(value), error_(error), terms_(std::abs(value)) {
    if (!std::isfinite(value)) error_ = 0.0;    // infinities must be right
    if (std::isnan(error_)) error_ = INFINITY;  // inf times 0: nothing is known
  }

  double value() const { return value_; }
  double error() const {
    if (count_ < 2.0) return error_;
    return error_ + kUnit * (std::abs(value_) + std::sqrt(count_ - 2.0) * terms_);
  }

  Bounded operator-() const {
    Bounded negative = *this;
    negative.value_ = -value_;
    return negative;
  }
  Bounded& operator+=(const Bounded& b) {
    if (b.is_zero()) return *this;
    if (is_zero()) return *this = b;
    const double sum = value_ + b.value_;
    if (!std::isfinite(sum)) return *this = Bounded(sum);
    value_ = sum;
    error_ += b.error_;
    terms_ += b.terms_;
    count_ += b.count_;
    return *this;
  }
  Bounded& operator-=(const Bounded& b) { return *this += -b; }
  Bounded& operator*=(const Bounded& b) {
    const double product = value_ * b.value_, a_error = error(), b_error = b.error();
    return *this = Bounded(product, std::abs(value_) * b_error + std::abs(b.value_) * a_error + a_error * b_error +
                                        kUnit * std::abs(product));
  }
  Bounded& operator/=(const Bounded& b) {
    const double quotient = value_ / b.value_;
    return *this = Bounded(quotient, (error() + std::abs(quotient) * b.error()) / std::abs(b.value_) +
                                         4.0 * kUnit * std::abs(quotient));
  }
  friend Bounded operator+(Bounded a, const Bounded& b) { return a += b; }
  friend Bounded operator-(Bounded a, const Bounded& b) { return a -= b; }
  friend Bounded operator*(Bounded a, const Bounded& b) { return a *= b; }
  friend Bounded operator/(Bounded a, const Bounded& b) { return a /= b; }
  friend bool operator==(const Bounded& a, const Bounded& b) { return a.value_ == b.value_; }
  friend auto operator<=>(const Bounded& a, const Bounded& b) { return a.value_ <=> b.value_; }

 private:
  bool is_zero() const { return value_ == 0.0 && error_ == 0.0 && terms_ == 0.0; }

  double value_ = 0.0;
  double error_ = 0.0;  // of the terms
  double terms_ = 0.0;  // sum of their absolute values
  double count_ = 1.0;  // how many; the roundings of their sum are added when it is used
};

/// A sum that is kept as one float before anything is added to it.
inline double stored(double x) { return x; }
inline Bounded stored(const Bounded& x) { return {x.value(), x.error()}; }

/// A number that the result does not depend on, such as what is taken off all scores of a row.
inline double any_near(double x) { return x; }
inline Bounded any_near(const Bounded& x) { return x.value(); }

// The functions of <cmath>, by the names that the reference uses for any number type.
using std::abs, std::cos, std::erfc, std::exp, std::isfinite, std::log, std::log1p, std::sin, std::sqrt, std::tanh;

inline Bounded abs(const Bounded& x) { return x < Bounded(0.0) ? -x : x; }
inline Bounded sin(const Bounded& x) { return {std::sin(x.value()), x.error() + 4.0 * Bounded::kUnit}; }
inline Bounded cos(const Bounded& x) { return {std::cos(x.value()), x.error() + 4.0 * Bounded::kUnit}; }
/// At least e^x - 1: for what an error is like without asking the library.
inline double growth(double x) { return x < 0x1p-10 ? x + x * x : std::expm1(x); }
inline Bounded exp(const Bounded& x) {
  if (x.value() == -INFINITY) return 0.0;
  const double value = std::exp(x.value());
  return {value, value * growth(x.error()) + 4.0 * Bounded::kUnit * value +
                     static_cast<double>(std::numeric_limits<float>::min())};
}
inline Bounded log(const Bounded& x) {
  const double value = std::log(x.value());
  return {value, x.error() / x.value() + 4.0 * Bounded::kUnit * (std::abs(value) + 1.0)};
}
inline Bounded sqrt(const Bounded& x) {
  const double value = std::sqrt(x.value());
  return {value, (value > 0.0 ? x.error() / (2.0 * value) : std::sqrt(x.error())) + 2.0 * Bounded::kUnit * value};
}
/// The smallest |y| that x may stand for.
inline double least_magnitude(const Bounded& x) { return std::max(std::abs(x.value()) - x.error(), 0.0); }
// Both have slopes that fall with |x|: the steepest is that of the least magnitude.
inline Bounded tanh(const Bounded& x) {
  const double value = std::tanh(x.value());
  // No slope is above 1, so a small error lowers |tanh| by no more than itself.
  const double height =
      x.error() < 0x1p-10 ? std::max(std::abs(value) - x.error(), 0.0) : std::tanh(least_magnitude(x));
  return {value, std::min((1.0 - height * height) * x.error(), 2.0) + 8.0 * Bounded::kUnit};
}
inline Bounded erfc(const Bounded& x) {
  const double least = least_magnitude(x), slope = 2.0 / std::sqrt(std::numbers::pi) * std::exp(-least * least);
  return {std::erfc(x.value()), std::min(slope * x.error(), 2.0) + 8.0 * Bounded::kUnit};
}

/// log(e^a + e^b); a change of a or b comes through with its share of the sum.
inline double log_add(double a, double b) {
  const double top = std::max(a, b), low = std::min(a, b);
  return low == -INFINITY ? top : top + std::log1p(std::exp(low - top));
}
inline Bounded log_add(const Bounded& a, const Bounded& b) {
  const double sum = log_add(a.value(), b.value());
  if (!std::isfinite(sum) || b.value() == -INFINITY) return a;
  if (a.value() == -INFINITY) return b;
  return {sum, std::exp(a.value() - sum) * a.error() + std::exp(b.value() - sum) * b.error() +
                   4.0 * Bounded::kUnit * (std::abs(sum) + 1.0)};
}

}  // namespace heed::kernels::test

template <>
class std::numeric_limits<heed::kernels::test::Bounded> {
 public:
  static heed::kernels::test::Bounded infinity() { return std::numeric_limits<double>::infinity(); }
};
