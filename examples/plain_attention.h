// Attention the plain way, as the formula reads: all scores into a matrix, softmax over its rows, times the values. The
// loops run over contiguous memory, so the compiler vectorises the products for the machine it is told to build for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace plain {

/// In place, each row of [rows, cols].
inline void softmax(std::vector<float>& scores, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; ++i) {
    float* row = scores.data() + i * cols;
    const float top = *std::max_element(row, row + cols);
    float sum = 0.0f;
    for (int64_t j = 0; j < cols; ++j) sum += row[j] = std::exp(row[j] - top);
    for (int64_t j = 0; j < cols; ++j) row[j] /= sum;
  }
}

/// One head: q, k, v and out are [tokens, dim].
struct Head {
  int64_t tokens, dim;
  const float *q, *k, *v;
  float* out;
};

/// out = weights [tokens, tokens] * v
inline void times_values(const std::vector<float>& weights, const Head& head) {
  const auto [tokens, dim, q, k, v, out] = head;
  std::fill(out, out + tokens * dim, 0.0f);
  for (int64_t i = 0; i < tokens; ++i)
    for (int64_t j = 0; j < tokens; ++j)
      for (int64_t d = 0; d < dim; ++d) out[i * dim + d] += weights[i * tokens + j] * v[j * dim + d];
}

/// Scaled dot-product attention.
inline void scaled_dot(const Head& head) {
  const auto [tokens, dim, q, k, v, out] = head;
  std::vector<float> k_transposed(tokens * dim), scores(tokens * tokens, 0.0f);
  for (int64_t j = 0; j < tokens; ++j)
    for (int64_t d = 0; d < dim; ++d) k_transposed[d * tokens + j] = k[j * dim + d];
  const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
  for (int64_t i = 0; i < tokens; ++i)
    for (int64_t d = 0; d < dim; ++d) {
      const float x = scale * q[i * dim + d];
      for (int64_t j = 0; j < tokens; ++j) scores[i * tokens + j] += x * k_transposed[d * tokens + j];
    }
  softmax(scores, tokens, tokens);
  times_values(scores, head);
}

/// Additive attention: score = sum_d w_d tanh(q_d + k_d).
inline void additive(const Head& head, const float* w) {
  const auto [tokens, dim, q, k, v, out] = head;
  std::vector<float> scores(tokens * tokens, 0.0f);
  for (int64_t i = 0; i < tokens; ++i)
    for (int64_t j = 0; j < tokens; ++j)
      for (int64_t d = 0; d < dim; ++d) scores[i * tokens + j] += w[d] * std::tanh(q[i * dim + d] + k[j * dim + d]);
  softmax(scores, tokens, tokens);
  times_values(scores, head);
}

}  // namespace plain
