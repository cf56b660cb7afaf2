// The discrete Fourier transform of real numbers, in double precision: the same bits on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::sound {

/// Threads: many may use it at once, each with its own work.
class Fourier {
 public:
  /// n: a power of two, at least 4.
  explicit Fourier(int64_t n);

  int64_t size() const { return n_; }
  /// x [n] -> |X_k|^2 [n / 2 + 1], X_k = sum_j x_j e^(-2 pi i j k / n). `work`: [n], of the caller.
  void power(std::span<const double> x, std::span<double> power, std::span<double> work) const;

 private:
  void transform(double* re, double* im) const;

  int64_t n_, half_;
  std::vector<int64_t> reversed_;      // [half] with the bits in reverse
  std::vector<double> cos_, sin_;      // of the stages, one after another
  std::vector<double> cos_n_, sin_n_;  // [half] of 2 pi k / n
};

}  // namespace heed::sound
