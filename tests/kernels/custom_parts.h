// A score, a bias and a region as a user would write them, templated on the number type so that the reference can use
// the same formulas in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/kernels/bounded.h"

namespace heed::kernels::test {

/// Key j of query i in head h of sequence b.
struct PairIndex {
  int64_t b, h, i, j;
};

/// What goes back through the score of a pair.
template <class T>
struct PairBackward {
  const T* q;
  const T* k;
  T d_score;
  T* d_q;
  T* d_k;
};

/// score = -sum_d a_d (q_d - k_d)^2, with learned a.
template <class T>
T distance_score(const T* a, const T* q, const T* k, int64_t dim) {
  T sum = 0;
  for (int64_t d = 0; d < dim; ++d) sum -= a[d] * (q[d] - k[d]) * (q[d] - k[d]);
  return sum;
}

template <class T>
void distance_score_backward(const T* a, const PairBackward<T>& pair, int64_t dim, T* d_a) {
  for (int64_t d = 0; d < dim; ++d) {
    const T difference = pair.q[d] - pair.k[d];
    pair.d_q[d] -= T(2) * a[d] * difference * pair.d_score;
    pair.d_k[d] += T(2) * a[d] * difference * pair.d_score;
    d_a[d] -= difference * difference * pair.d_score;
  }
}

/// bias = a_0 sin(i/3 - j/5 + b + h) + a_1 cos(j), with learned a.
template <class T>
T wave_bias(const T* a, const PairIndex& at) {
  const auto [b, h, i, j] = at;
  return a[0] * sin(T(i) / T(3) - T(j) / T(5) + T(b + h)) + a[1] * cos(T(j));
}

template <class T>
void wave_bias_backward(const PairIndex& at, T d_bias, T* d_a) {
  const auto [b, h, i, j] = at;
  d_a[0] += d_bias * sin(T(i) / T(3) - T(j) / T(5) + T(b + h));
  d_a[1] += d_bias * cos(T(j));
}

/// Keys from half of the query's index on, at most Tk / 2 + 1 of them, every third pair hidden.
inline std::pair<int64_t, int64_t> comb_keys(int64_t i, int64_t keys) {
  const int64_t first = i / 2 < keys ? i / 2 : keys;
  const int64_t last = first + keys / 2 + 1;
  return {first, last < keys ? last : keys};
}
inline bool comb_visible(int64_t b, int64_t h, int64_t i, int64_t j) { return (i + j + b + h) % 3 != 0; }

struct DistanceScore {
  std::vector<float> a;

  int64_t parameters() const { return static_cast<int64_t>(a.size()); }
  float score(const float* q, const float* k, int64_t dim) const { return distance_score(a.data(), q, k, dim); }
  // NOLINTNEXTLINE(readability-function-size): what kernels/custom.h calls
  void backward(const float* q, const float* k, int64_t dim, float d_score, float* d_q, float* d_k, float* d_a) const {
    distance_score_backward(a.data(), PairBackward<float>{q, k, d_score, d_q, d_k}, dim, d_a);
  }
};

struct WaveBias {
  std::vector<float> a;

  int64_t parameters() const { return static_cast<int64_t>(a.size()); }
  float bias(int64_t b, int64_t h, int64_t i, int64_t j) const { return wave_bias(a.data(), {b, h, i, j}); }
  // NOLINTNEXTLINE(readability-function-size): what kernels/custom.h calls
  void backward(int64_t b, int64_t h, int64_t i, int64_t j, float d_bias, float* d_a) const {
    wave_bias_backward({b, h, i, j}, d_bias, d_a);
  }
};

struct CombRegion {
  std::pair<int64_t, int64_t> keys(int64_t, int64_t, int64_t i, int64_t keys) const { return comb_keys(i, keys); }
  bool visible(int64_t b, int64_t h, int64_t i, int64_t j) const { return comb_visible(b, h, i, j); }
};

}  // namespace heed::kernels::test
