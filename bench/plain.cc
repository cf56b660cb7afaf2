#include "plain.h"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "clones.h"
#include "sgemm.h"

namespace heed::bench {
namespace {

/// exp for x <= 0, relative error below 2e-7: 2^n times a polynomial of degree 6 on [-ln2/2, ln2/2]. Written so that
/// the compiler turns the loop around it into SIMD: libm's exp would make the plain way look slower than it need be.
inline float exp_negative(float x) {
  const float clamped = x < -87.0f ? -87.0f : x;
  // Adding 1.5 * 2^23 rounds to the nearest integer and leaves it in the low bits.
  const float shifted = clamped * 1.44269504f + 12582912.0f;
  const float n = shifted - 12582912.0f;
  const float r = (clamped - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const int32_t exponent = std::bit_cast<int32_t>(shifted) << 23;
  return std::bit_cast<float>(std::bit_cast<int32_t>(p) + exponent);
}

/// Softmax of the first `visible` scores of a row; the rest become 0.
HEED_BENCH_CLONES void softmax_row(float* row, int64_t visible, int64_t keys) {
  float largest = row[0];
#pragma omp simd reduction(max : largest)
  for (int64_t j = 0; j < visible; ++j) largest = row[j] > largest ? row[j] : largest;
  float total = 0.0f;
#pragma omp simd reduction(+ : total)
  for (int64_t j = 0; j < visible; ++j) {
    row[j] = exp_negative(row[j] - largest);
    total += row[j];
  }
  const float inverse = 1.0f / total;
#pragma omp simd
  for (int64_t j = 0; j < visible; ++j) row[j] *= inverse;
  if (visible < keys) std::memset(row + visible, 0, static_cast<size_t>(keys - visible) * sizeof(float));
}

/// d_row arrives as the gradient of the weights and leaves as the gradient of the scores, times `scale`.
HEED_BENCH_CLONES void softmax_backward_row(const float* row, float* d_row, int64_t keys, float scale) {
  float dot = 0.0f;
#pragma omp simd reduction(+ : dot)
  for (int64_t j = 0; j < keys; ++j) dot += row[j] * d_row[j];
#pragma omp simd
  for (int64_t j = 0; j < keys; ++j) d_row[j] = scale * row[j] * (d_row[j] - dot);
}

}  // namespace

Plain::Plain(const PlainShape& shape, bool train) : shape_(shape), train_(train) { reserve(1); }

void Plain::reserve(int threads) {
  if (threads <= threads_) return;
  threads_ = threads;
  const int64_t pairs = shape_.queries * shape_.keys;
  if (!train_) weights_ = Buffer(threads * pairs);
  if (train_ && weights_.empty()) weights_ = Buffer(shape_.batch_heads * pairs);
  if (train_) d_weights_ = Buffer(threads * pairs);
}

float* Plain::weights_of(int64_t head, int thread) const {
  return weights_.data() + (train_ ? head : thread) * shape_.queries * shape_.keys;
}

void Plain::forward(const PlainInputs& in, float* out, int threads) {
  reserve(threads);
  // One head per thread at a time, so that a head's scores stay in the cache of one core; the products inside run on
  // one thread each. Fewer heads than threads: the products share their work themselves.
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (shape_.batch_heads >= threads)
  for (int64_t head = 0; head < shape_.batch_heads; ++head) {
    const int64_t queries = shape_.queries, keys = shape_.keys, dim = shape_.dim;
    float* weights = weights_of(head, omp_get_thread_num());
    const float* q_head = in.q + head * queries * dim;
    const float* k_head = in.k + head * keys * dim;
    const float* v_head = in.v + head * keys * dim;
    sgemm({.m = queries,
           .n = keys,
           .k = dim,
           .a = q_head,
           .b = k_head,
           .c = weights,
           .b_transposed = true,
           .scale = shape_.scale});
    for (int64_t i = 0; i < queries; ++i) {
      const int64_t visible = shape_.causal ? std::min(i + 1, keys) : keys;
      softmax_row(weights + i * keys, visible, keys);
    }
    sgemm({.m = queries, .n = dim, .k = keys, .a = weights, .b = v_head, .c = out + head * queries * dim});
  }
}

void Plain::backward(const PlainInputs& in, const float* d_out, const PlainGradients& grad, int threads) {
  reserve(threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int64_t head = 0; head < shape_.batch_heads; ++head) {
    const int64_t queries = shape_.queries, keys = shape_.keys, dim = shape_.dim;
    const int64_t q_at = head * queries * dim, k_at = head * keys * dim;
    const int thread = omp_get_thread_num();
    const float* weights = weights_of(head, thread);
    float* d_weights = d_weights_.data() + thread * queries * keys;
    // out = weights * v
    sgemm({.m = keys,
           .n = dim,
           .k = queries,
           .a = weights,
           .b = d_out + q_at,
           .c = grad.d_v + k_at,
           .a_transposed = true});
    sgemm(
        {.m = queries, .n = keys, .k = dim, .a = d_out + q_at, .b = in.v + k_at, .c = d_weights, .b_transposed = true});
    // weights = softmax(scores)
    for (int64_t i = 0; i < queries; ++i)
      softmax_backward_row(weights + i * keys, d_weights + i * keys, keys, shape_.scale);
    // scores = scale * q * k^T
    sgemm({.m = queries, .n = dim, .k = keys, .a = d_weights, .b = in.k + k_at, .c = grad.d_q + q_at});
    sgemm({.m = keys,
           .n = dim,
           .k = queries,
           .a = d_weights,
           .b = in.q + q_at,
           .c = grad.d_k + k_at,
           .a_transposed = true});
  }
}

}  // namespace heed::bench
