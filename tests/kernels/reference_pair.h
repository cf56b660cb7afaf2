// What is added to the score of one pair, and whether the pair exists at all.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/kernels/case.h"
#include "tests/kernels/custom_parts.h"

namespace heed::kernels::test {

inline int64_t relative_index(const Case& c, const PairIndex& at) {
  const Bias& bias = c.problem.bias;
  const int64_t reach = bias.relative_reach;
  return at.h * bias.relative_head_stride + std::clamp(at.j - c.position(at.b, at.i), -reach, reach) + reach;
}

template <class T>
T pair_bias(const Case& c, const Values<T>& x, const PairIndex& at) {
  const auto [b, h, i, j] = at;
  const Bias& bias = c.problem.bias;
  T sum = 0;
  if (!x.bias_tensor.empty()) sum += x.bias_tensor[c.tensor_row(bias, b, h, i) + j * bias.key];
  if (!x.alibi_slopes.empty()) sum -= x.alibi_slopes[h] * T(std::abs(c.position(b, i) - j));
  if (!x.relative.empty()) sum += x.relative[relative_index(c, at)];
  if (!x.custom_bias.empty()) sum += wave_bias(x.custom_bias.data(), at);
  return sum;
}

template <class T>
void pair_bias_backward(const Case& c, const PairIndex& at, T d, Values<T>& grad) {
  const auto [b, h, i, j] = at;
  const Bias& bias = c.problem.bias;
  if (!grad.bias_tensor.empty()) grad.bias_tensor[c.tensor_row(bias, b, h, i) + j * bias.key] += d;
  if (!grad.alibi_slopes.empty()) grad.alibi_slopes[h] -= d * T(std::abs(c.position(b, i) - j));
  if (!grad.relative.empty()) grad.relative[relative_index(c, at)] += d;
  if (!grad.custom_bias.empty()) wave_bias_backward(at, d, grad.custom_bias.data());
}

template <class T>
bool pair_visible(const Case& c, const Values<T>& x, const PairIndex& at) {
  const auto [b, h, i, j] = at;
  const Region& r = c.problem.region;
  const int64_t position = c.position(b, i);
  const bool always = j < r.always_visible;
  if (!c.query_lengths.empty() && i >= c.query_lengths[b]) return false;
  if (!c.key_lengths.empty() && j >= c.key_lengths[b]) return false;
  if (r.causal && (r.strict ? j >= position : j > position)) return false;
  if (r.not_self && j == position) return false;
  if (r.window_left >= 0 && !always && j < position - r.window_left) return false;
  if (r.window_right >= 0 && j > position + r.window_right) return false;
  if (!c.query_documents.empty() && !always) {
    const int64_t query = (c.query_offsets.empty() ? b * c.shape().queries : c.query_offsets[b]) + i;
    const int64_t key = (c.key_offsets.empty() ? b * c.shape().keys : c.key_offsets[b]) + j;
    if (c.query_documents[query] != c.key_documents[key]) return false;
  }
  if (!c.mask.empty()) {
    const int64_t start = r.mask_packed ? c.query_offsets[b] * r.mask_query : b * r.mask_batch;
    const uint8_t* row = c.mask.data() + start + h * r.mask_head + i * r.mask_query;
    if (r.mask_kind == MaskKind::bytes ? row[j] == 0 : (row[j / 8] >> (j % 8) & 1) == 0) return false;
  }
  if (!x.centre.empty() && !r.centre_picks && abs(T(j) - x.centre[c.query_row(b, h, i)]) > T(r.centre_half_width))
    return false;
  if (c.custom_region) {
    const auto [first, last] = comb_keys(i, c.keys(b));
    if (j < first || j >= last || !comb_visible(b, h, i, j)) return false;
  }
  return true;
}

/// exp(-(j - centre)^2 / (2 sigma^2)), or 1.
template <class T>
T pair_gaussian(const Case& c, const Values<T>& x, const PairIndex& at) {
  const auto [b, h, i, j] = at;
  const T sigma = T(c.problem.region.centre_sigma);
  if (x.centre.empty()) return T(1);
  const T distance = T(j) - x.centre[c.query_row(b, h, i)];
  const Region& r = c.problem.region;
  if (r.centre_picks && abs(distance) > T(r.centre_half_width)) return T(0);
  if (!(sigma > T(0))) return T(1);
  return exp(-distance * distance / (T(2) * sigma * sigma));
}

/// G(i, j) of the guided cost.
template <class T>
T pair_guide(const Case& c, const PairIndex& at) {
  const auto [b, h, i, j] = at;
  const Guide& guide = c.problem.guide;
  if (!c.guide_tensor.empty()) return T(c.guide_tensor[c.tensor_row(guide, b, h, i) + j * guide.key]);
  const int64_t tq = c.query_lengths.empty() ? c.queries(b) : c.query_lengths[b];
  const int64_t tk = c.key_lengths.empty() ? c.keys(b) : c.key_lengths[b];
  const T off_diagonal = T(i) / T(tq) - T(j) / T(tk);
  return T(1) - exp(-off_diagonal * off_diagonal / (T(2) * T(guide.sigma) * T(guide.sigma)));
}

}  // namespace heed::kernels::test
