// User-defined scores, biases and regions: small C++20 types, checked by a concept, for the fused forward and backward.
//
//   struct Manhattan {                     // score = -sum_d |q_d - k_d|
//     float score(const float* q, const float* k, int64_t dim) const;
//     void backward(const float* q, const float* k, int64_t dim, float d_score, float* d_q, float* d_k) const;
//   };
//   Manhattan mine;
//   auto custom = heed::kernels::custom_score(mine);       // `mine` and `custom` must outlive the call
//   problem.score.kind = ScoreKind::custom;
//   problem.score.custom = &custom;
//
// Its functions are called from several threads at once, and must not throw.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

namespace heed::kernels {

// ----------------------------------------------------------------------------------------------------------- concepts

/// A learned part: `parameters()` many floats, whose gradient is added into `d_parameters` by backward().
template <class T>
concept HasParameters = requires(const T& t) {
  { t.parameters() } -> std::convertible_to<int64_t>;
};

/// score() of one pair, and backward() that ADDS d_score * d score / d q into d_q[dim], and the same for d_k.
template <class T>
concept PairScore = requires(const T& t, const float* x, int64_t dim, float g, float* d) {
  { t.score(x, x, dim) } -> std::convertible_to<float>;
}
&&(requires(const T& t, const float* x, int64_t dim, float g, float* d) { t.backward(x, x, dim, g, d, d); } ||
   (HasParameters<T> &&
    requires(const T& t, const float* x, int64_t dim, float g, float* d) { t.backward(x, x, dim, g, d, d, d); }));

/// bias() of the pair (query i, key j) in batch b, head h. With parameters: backward() adds their gradient.
template <class T>
concept PairBias = requires(const T& t, int64_t n) {
  { t.bias(n, n, n, n) } -> std::convertible_to<float>;
}
&&(!HasParameters<T> || requires(const T& t, int64_t n, float g, float* d) { t.backward(n, n, n, n, g, d); });

/// keys(b, h, i, Tk) gives the half-open range of keys that query i may see; visible(b, h, i, j), if defined, hides
/// single pairs inside the range. Tiles outside all ranges are never visited.
template <class T>
concept PairRegion = requires(const T& t, int64_t n) {
  { t.keys(n, n, n, n) } -> std::convertible_to<std::pair<int64_t, int64_t>>;
};
template <class T>
concept HidesSinglePairs = requires(const T& t, int64_t n) {
  { t.visible(n, n, n, n) } -> std::convertible_to<bool>;
};

// -------------------------------------------------------------------------------------------- what the loop calls

/// A block of pairs: rows are keys, columns are queries. q and k rows are contiguous.
struct CustomTile {
  const float* q;  // [queries, q_stride]
  const float* k;  // [keys, k_stride]
  int64_t q_stride, k_stride, dim;
  int64_t queries, keys;
  float* pairs;  // [keys, pair_stride]: scores out, or d_score in
  int64_t pair_stride;
  int64_t batch, head, first_query, first_key;
};

struct CustomScore {
  const void* self = nullptr;
  int64_t parameters = 0;
  void (*forward)(const void* self, const CustomTile&) = nullptr;
  /// Adds into d_q [queries, q_stride], d_k [keys, k_stride] and d_parameters.
  void (*backward)(const void* self, const CustomTile&, float* d_q, float* d_k, float* d_parameters) = nullptr;
};

struct CustomBias {
  const void* self = nullptr;
  int64_t parameters = 0;
  void (*add)(const void* self, const CustomTile&) = nullptr;
  void (*backward)(const void* self, const CustomTile&, float* d_parameters) = nullptr;  // null: nothing is learned
};

struct CustomRegion {
  const void* self = nullptr;
  std::pair<int64_t, int64_t> (*keys)(const void* self, int64_t b, int64_t h, int64_t i, int64_t keys) = nullptr;
  bool (*visible)(const void* self, int64_t b, int64_t h, int64_t i, int64_t j) = nullptr;  // null: all inside keys()
};

// --------------------------------------------------------------------------------------------------- from type to tile

template <class T>
CustomScore custom_score(const T& mine) {
  static_assert(
      PairScore<T>,
      "a score needs: float score(const float* q, const float* k, int64_t dim) const, and "
      "void backward(const float* q, const float* k, int64_t dim, float d_score, float* d_q, float* d_k) const "
      "(with parameters(): one more argument, float* d_parameters)");
  CustomScore custom;
  if constexpr (PairScore<T>) {
    custom.self = &mine;
    if constexpr (HasParameters<T>) custom.parameters = mine.parameters();
    custom.forward = [](const void* self, const CustomTile& t) {
      const T& score = *static_cast<const T*>(self);
      for (int64_t j = 0; j < t.keys; ++j)
        for (int64_t i = 0; i < t.queries; ++i)
          t.pairs[j * t.pair_stride + i] = score.score(t.q + i * t.q_stride, t.k + j * t.k_stride, t.dim);
    };
    custom.backward = [](const void* self, const CustomTile& t, float* d_q, float* d_k, float* d_parameters) {
      const T& score = *static_cast<const T*>(self);
      for (int64_t j = 0; j < t.keys; ++j)
        for (int64_t i = 0; i < t.queries; ++i) {
          const float g = t.pairs[j * t.pair_stride + i];
          if (g == 0.0f) continue;  // hidden pairs, exact zeros
          const float* q = t.q + i * t.q_stride;
          const float* k = t.k + j * t.k_stride;
          if constexpr (HasParameters<T>)
            score.backward(q, k, t.dim, g, d_q + i * t.q_stride, d_k + j * t.k_stride, d_parameters);
          else
            score.backward(q, k, t.dim, g, d_q + i * t.q_stride, d_k + j * t.k_stride);
        }
      (void)d_parameters;
    };
  }
  return custom;
}

template <class T>
CustomBias custom_bias(const T& mine) {
  static_assert(PairBias<T>,
                "a bias needs: float bias(int64_t b, int64_t h, int64_t i, int64_t j) const; with parameters() also "
                "void backward(int64_t b, int64_t h, int64_t i, int64_t j, float d_bias, float* d_parameters) const");
  CustomBias custom;
  if constexpr (PairBias<T>) {
    custom.self = &mine;
    custom.add = [](const void* self, const CustomTile& t) {
      const T& bias = *static_cast<const T*>(self);
      for (int64_t j = 0; j < t.keys; ++j)
        for (int64_t i = 0; i < t.queries; ++i)
          t.pairs[j * t.pair_stride + i] += bias.bias(t.batch, t.head, t.first_query + i, t.first_key + j);
    };
    if constexpr (HasParameters<T>) {
      custom.parameters = mine.parameters();
      custom.backward = [](const void* self, const CustomTile& t, float* d_parameters) {
        const T& bias = *static_cast<const T*>(self);
        for (int64_t j = 0; j < t.keys; ++j)
          for (int64_t i = 0; i < t.queries; ++i)
            bias.backward(t.batch, t.head, t.first_query + i, t.first_key + j, t.pairs[j * t.pair_stride + i],
                          d_parameters);
      };
    }
  }
  return custom;
}

template <class T>
CustomRegion custom_region(const T& mine) {
  static_assert(
      PairRegion<T>,
      "a region needs: std::pair<int64_t, int64_t> keys(int64_t b, int64_t h, int64_t i, int64_t Tk) const, the "
      "half-open range of keys that query i may see; and optionally bool visible(b, h, i, j) const");
  CustomRegion custom;
  if constexpr (PairRegion<T>) {
    custom.self = &mine;
    custom.keys = [](const void* self, int64_t b, int64_t h, int64_t i, int64_t keys) -> std::pair<int64_t, int64_t> {
      return static_cast<const T*>(self)->keys(b, h, i, keys);
    };
    if constexpr (HidesSinglePairs<T>)
      custom.visible = [](const void* self, int64_t b, int64_t h, int64_t i, int64_t j) -> bool {
        return static_cast<const T*>(self)->visible(b, h, i, j);
      };
  }
  return custom;
}

}  // namespace heed::kernels
