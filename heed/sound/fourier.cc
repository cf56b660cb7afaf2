// Cooley and Tukey, radix 2, of n / 2 complex numbers: the even places of x are their real parts, the odd places their
// imaginary parts.
#include "heed/sound/fourier.h"

#include <bit>
#include <numbers>

#include "heed/base/error.h"
#include "heed/kernels/exact_math.h"

namespace heed::sound {

Fourier::Fourier(int64_t n) : n_(n), half_(n / 2) {
  expect(n >= 4 && std::has_single_bit(static_cast<uint64_t>(n)), "fourier: {} is no power of two from 4", n);
  const int bits = std::countr_zero(static_cast<uint64_t>(half_));
  for (int64_t i = 0; i < half_; ++i) {
    int64_t reversed = 0;
    for (int b = 0; b < bits; ++b) reversed |= (i >> b & 1) << (bits - 1 - b);
    reversed_.push_back(reversed);
  }
  const auto turn = [](int64_t k, int64_t of) {
    return exact::sin_cos(2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(of));
  };
  for (int64_t length = 2; length <= half_; length *= 2)
    for (int64_t k = 0; k < length / 2; ++k) {
      const auto [sin, cos] = turn(k, length);
      cos_.push_back(cos);
      sin_.push_back(sin);
    }
  for (int64_t k = 0; k < half_; ++k) {
    const auto [sin, cos] = turn(k, n_);
    cos_n_.push_back(cos);
    sin_n_.push_back(sin);
  }
}

void Fourier::transform(double* re, double* im) const {
  const double *cos = cos_.data(), *sin = sin_.data();
  for (int64_t length = 2; length <= half_; length *= 2) {
    const int64_t pairs = length / 2;
    for (int64_t start = 0; start < half_; start += length) {
      double *re_a = re + start, *im_a = im + start, *re_b = re_a + pairs, *im_b = im_a + pairs;
      for (int64_t k = 0; k < pairs; ++k) {
        const double r = re_b[k] * cos[k] + im_b[k] * sin[k], i = im_b[k] * cos[k] - re_b[k] * sin[k];
        re_b[k] = re_a[k] - r;
        im_b[k] = im_a[k] - i;
        re_a[k] += r;
        im_a[k] += i;
      }
    }
    cos += pairs;
    sin += pairs;
  }
}

void Fourier::power(std::span<const double> x, std::span<double> power, std::span<double> work) const {
  double *re = work.data(), *im = re + half_;
  for (int64_t i = 0; i < half_; ++i) {
    const auto from = static_cast<size_t>(2 * reversed_[static_cast<size_t>(i)]);
    re[i] = x[from];
    im[i] = x[from + 1];
  }
  transform(re, im);
  // Z_k of the pairs is E_k + i O_k; X_k = E_k + e^(-2 pi i k / n) O_k.
  const double first = re[0] + im[0], last = re[0] - im[0];
  power[0] = first * first;
  power[static_cast<size_t>(half_)] = last * last;
  for (int64_t k = 1; k < half_; ++k) {
    const int64_t m = half_ - k;
    const double even_re = 0.5 * (re[k] + re[m]), even_im = 0.5 * (im[k] - im[m]);
    const double odd_re = 0.5 * (im[k] + im[m]), odd_im = -0.5 * (re[k] - re[m]);
    const double c = cos_n_[static_cast<size_t>(k)], s = sin_n_[static_cast<size_t>(k)];
    const double a = even_re + c * odd_re + s * odd_im, b = even_im + c * odd_im - s * odd_re;
    power[static_cast<size_t>(k)] = a * a + b * b;
  }
}

}  // namespace heed::sound
