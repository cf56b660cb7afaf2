// The score of one pair, and its backward, from the formulas.
#pragma once

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "tests/kernels/case.h"
#include "tests/kernels/custom_parts.h"

namespace heed::kernels::test {

template <class T>
T activate(MlpActivation activation, T x) {
  switch (activation) {
    case MlpActivation::tanh:
      return tanh(x);
    case MlpActivation::relu:
      return x > T(0) ? x : T(0);
    case MlpActivation::gelu:
      return x * erfc(-x / T(std::numbers::sqrt2)) / T(2);
    case MlpActivation::silu:
      return x / (T(1) + exp(-x));
  }
  return x;
}

/// `height` is activate(x).
template <class T>
T activate_slope(MlpActivation activation, T x, T height) {
  switch (activation) {
    case MlpActivation::tanh:
      return T(1) - height * height;
    case MlpActivation::relu:
      return x > T(0) ? T(1) : T(0);
    case MlpActivation::gelu: {
      const T density = exp(-x * x / T(2)) / sqrt(T(2) * T(std::numbers::pi));
      return erfc(-x / T(std::numbers::sqrt2)) / T(2) + x * density;
    }
    case MlpActivation::silu: {
      const T gate = T(1) / (T(1) + exp(-x));
      return gate + x * gate * (T(1) - gate);
    }
  }
  return T(1);
}

/// The units of the pair's MLP, layer by layer: what goes into the activation, and what comes out.
template <class T>
struct MlpUnits {
  std::vector<std::vector<T>> sums, heights;
};

template <class T>
MlpUnits<T> mlp_units(const Case& c, const Values<T>& x, const T* q, const T* k) {
  MlpUnits<T> units;
  const auto add = [&](std::vector<T> sums) {
    std::vector<T> heights;
    heights.reserve(sums.size());
    for (const T& sum : sums) heights.push_back(activate(c.problem.score.activation, sum));
    units.sums.push_back(std::move(sums));
    units.heights.push_back(std::move(heights));
  };
  std::vector<T> first;
  for (int64_t d = 0; d < c.shape().dim; ++d) first.push_back(q[d] + k[d]);
  add(std::move(first));
  for (size_t l = 0; l < x.layer_weight.size(); ++l) {
    const std::vector<T>& below = units.heights[l];
    std::vector<T> next = x.layer_bias[l];
    for (size_t o = 0; o < next.size(); ++o)
      for (size_t n = 0; n < below.size(); ++n) next[o] += x.layer_weight[l][o * below.size() + n] * below[n];
    add(std::move(next));
  }
  return units;
}

template <class T>
T pair_score(const Case& c, const Values<T>& x, int64_t h, const T* q, const T* k) {
  const Score& score = c.problem.score;
  T sum = 0;
  switch (score.kind) {
    case ScoreKind::inner:
      for (int64_t d = 0; d < c.shape().dim; ++d) sum += q[d] * k[d];
      return T(score.scale) * sum;
    case ScoreKind::tanh_sum:
      for (int64_t d = 0; d < c.shape().dim; ++d) sum += x.score_v[h * score.v_head_stride + d] * tanh(q[d] + k[d]);
      return sum;
    case ScoreKind::pair_mlp: {
      const std::vector<T> last = mlp_units(c, x, q, k).heights.back();
      for (size_t n = 0; n < last.size(); ++n) sum += x.score_v[n] * last[n];
      return sum;
    }
    case ScoreKind::none:
      return T(0);
    case ScoreKind::custom:
      return distance_score(x.custom_score.data(), q, k, c.shape().dim);
  }
  return sum;
}

/// Adds d_score times the gradient of pair_score() into d_q, d_k and the parameters' gradients.
template <class T>
void pair_score_backward(const Case& c, const Values<T>& x, int64_t h, const PairBackward<T>& pair, Values<T>& grad) {
  const auto [q, k, d_score, d_q, d_k] = pair;
  const Score& score = c.problem.score;
  const int64_t dim = c.shape().dim;
  switch (score.kind) {
    case ScoreKind::inner:
      for (int64_t d = 0; d < dim; ++d) {
        d_q[d] += T(score.scale) * d_score * k[d];
        d_k[d] += T(score.scale) * d_score * q[d];
      }
      break;
    case ScoreKind::tanh_sum:
      for (int64_t d = 0; d < dim; ++d) {
        const T height = tanh(q[d] + k[d]);
        const T d_sum = d_score * x.score_v[h * score.v_head_stride + d] * (T(1) - height * height);
        d_q[d] += d_sum;
        d_k[d] += d_sum;
        grad.score_v[h * score.v_head_stride + d] += d_score * height;
      }
      break;
    case ScoreKind::pair_mlp: {
      const auto [sums, heights] = mlp_units(c, x, q, k);
      std::vector<T> d_hidden;
      for (size_t n = 0; n < heights.back().size(); ++n) {
        d_hidden.push_back(d_score * x.score_v[n]);
        grad.score_v[n] += d_score * heights.back()[n];
      }
      for (size_t l = sums.size(); l-- > 0;) {
        std::vector<T> d_sum;
        for (size_t n = 0; n < sums[l].size(); ++n)
          d_sum.push_back(d_hidden[n] * activate_slope(score.activation, sums[l][n], heights[l][n]));
        if (l == 0) {
          for (int64_t d = 0; d < dim; ++d) d_q[d] += d_sum[d];
          for (int64_t d = 0; d < dim; ++d) d_k[d] += d_sum[d];
          break;
        }
        const size_t in = sums[l - 1].size();
        d_hidden.assign(in, T(0));
        for (size_t o = 0; o < d_sum.size(); ++o) {
          grad.layer_bias[l - 1][o] += d_sum[o];
          for (size_t n = 0; n < in; ++n) {
            grad.layer_weight[l - 1][o * in + n] += d_sum[o] * heights[l - 1][n];
            d_hidden[n] += d_sum[o] * x.layer_weight[l - 1][o * in + n];
          }
        }
      }
      break;
    }
    case ScoreKind::none:
      break;
    case ScoreKind::custom:
      distance_score_backward(x.custom_score.data(), pair, dim, grad.custom_score.data());
      break;
  }
}

}  // namespace heed::kernels::test
