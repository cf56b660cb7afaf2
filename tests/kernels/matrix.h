// A matrix that is simply there: what the fused kernels never keep, and the reference always does.
#pragma once

#include <cstdint>
#include <vector>

namespace heed::kernels::test {

template <class T>
struct Matrix {
  int64_t rows = 0;
  int64_t cols = 0;
  std::vector<T> data;

  Matrix() = default;
  Matrix(int64_t r, int64_t c, T value = T(0)) : rows(r), cols(c), data(r * c, value) {}

  T& operator()(int64_t r, int64_t c) { return data[r * cols + c]; }
  const T& operator()(int64_t r, int64_t c) const { return data[r * cols + c]; }
};

}  // namespace heed::kernels::test
