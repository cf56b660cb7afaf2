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

/// out [rows, dim] = weights [rows, cols] * v [cols, dim]
inline void times_values(const std::vector<float>& weights, const float* v, int64_t rows, int64_t cols, int64_t dim,
                         float* out) {
  std::fill(out, out + rows * dim, 0.0f);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      for (int64_t d = 0; d < dim; ++d) out[i * dim + d] += weights[i * cols + j] * v[j * dim + d];
}

/// One head of scaled dot-product attention: q, k, v and out are [tokens, dim].
inline void scaled_dot(const float* q, const float* k, const float* v, int64_t tokens, int64_t dim, float* out) {
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
  times_values(scores, v, tokens, tokens, dim, out);
}

/// One head of additive attention: score = sum_d w_d tanh(q_d + k_d).
inline void additive(const float* q, const float* k, const float* w, const float* v, int64_t tokens, int64_t dim,
                     float* out) {
  std::vector<float> scores(tokens * tokens, 0.0f);
  for (int64_t i = 0; i < tokens; ++i)
    for (int64_t j = 0; j < tokens; ++j)
      for (int64_t d = 0; d < dim; ++d) scores[i * tokens + j] += w[d] * std::tanh(q[i * dim + d] + k[j * dim + d]);
  softmax(scores, tokens, tokens);
  times_values(scores, v, tokens, tokens, dim, out);
}

}  // namespace plain
