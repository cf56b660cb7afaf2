// The backward of one (b, h), by hand from the same formulas.
#pragma once

#include <limits>
#include <vector>

#include "tests/kernels/reference_head.h"

namespace heed::kernels::test {

/// What the gradients of a head follow from, and where they go.
template <class T>
struct Backward {
  const Case& c;
  const Values<T>& x;
  const Upstream<T>& up;
  Values<T>& grad;
};

/// d_attention(i, j): what comes back to the weights before dropout, from the values and from the guided cost.
template <class T>
Matrix<T> attention_backward(const Backward<T>& to, const Head<T>& m) {
  const auto& [c, x, up, grad] = to;
  const int64_t dv = c.shape().value_dim;
  Matrix<T> d(m.tq, m.tk);
  for (int64_t i = 0; i < m.tq; ++i) {
    const int64_t row = c.query_row(m.b, m.h, i);
    for (int64_t j = 0; j < m.tk; ++j) {
      if (m.hidden(i, j)) continue;
      const int64_t key = c.key_row(c.kv_heads(), m.b, m.g, j);
      const T kept = m.keep(i, j) * m.attention(i, j);
      T sum = 0;
      for (int64_t n = 0; n < dv; ++n) {
        // out = sum_j keep * A * v
        sum += up.d_out[row * dv + n] * x.v[key * dv + n];
        grad.v[key * dv + n] += kept * up.d_out[row * dv + n];
      }
      d(i, j) = m.keep(i, j) * sum;
      if (!up.d_guide_cost.empty()) d(i, j) += up.d_guide_cost[row] * m.guide(i, j);
    }
  }
  return d;
}

/// From one row of d_weight to d_shifted. The sampled choice has no path from the weights to the scores.
template <class T>
std::vector<T> normalise_backward(const Backward<T>& to, const Head<T>& m, int64_t i, const std::vector<T>& d_weight) {
  const auto& [c, x, up, grad] = to;
  const Normaliser kind = c.problem.normalise.kind;
  const int64_t row = c.query_row(m.b, m.h, i);
  std::vector<T> d(m.tk, T(0));
  if (m.visible[i] == T(0) && grad.sink.empty()) return d;
  const std::vector<T> p = m.row(m.softmax, i);
  if (kind == Normaliser::softmax || kind == Normaliser::argmax) d = softmax_backward(p, d_weight);
  if (kind == Normaliser::sparsemax || kind == Normaliser::entmax15)
    d = sparse_backward(kind, m.row(m.weight, i), d_weight);
  if (kind == Normaliser::sigmoid || kind == Normaliser::relu || kind == Normaliser::identity)
    for (int64_t j = 0; j < m.tk; ++j) {
      if (m.hidden(i, j)) continue;
      d[j] = d_weight[j] * lone_slope(kind, m.shifted(i, j));
      if (c.problem.normalise.divide_by_visible) d[j] /= m.visible[i];
    }
  if (!up.d_lse.empty())  // lse = log sum exp
    for (int64_t j = 0; j < m.tk; ++j) d[j] += up.d_lse[row] * p[j];
  if (!up.d_log_prob.empty())  // log_prob = log softmax of the choice
    for (int64_t j = 0; j < m.tk; ++j) d[j] += up.d_log_prob[row] * ((j == m.choice[i] ? T(1) : T(0)) - p[j]);
  if (!up.d_entropy.empty())  // entropy = -sum p log p
    for (int64_t j = 0; j < m.tk; ++j)
      if (p[j] > T(0)) d[j] -= up.d_entropy[row] * p[j] * (m.log_softmax(i, j) + m.entropy[i]);
  if (!grad.sink.empty()) {
    grad.sink[m.h] -= m.sink[i] * dot(p, d_weight);
    if (!up.d_lse.empty()) grad.sink[m.h] += up.d_lse[row] * m.sink[i];
  }
  return d;
}

/// shifted_i = biased_i - column_i,  column_i = log(exp(first) + sum_{u < i} exp(biased_u)),  last = column_Tq: each
/// term of the sum, the first state or a row's score, also gets what the rows below and the last state send up.
template <class T>
void forced_forward_backward(const Backward<T>& to, const Head<T>& m, Matrix<T>& d) {
  const Case& c = to.c;
  const Upstream<T>& up = to.up;
  Values<T>& grad = to.grad;
  const Matrix<T> d_shifted = d;
  for (int64_t j = 0; j < m.tk; ++j) {
    const int64_t column = c.key_row(c.shape().heads, m.b, m.h, j);
    const auto sent_up = [&](T term, int64_t below) {
      T sum = 0;
      if (term == -std::numeric_limits<T>::infinity()) return sum;
      for (int64_t i = below; i < m.tq; ++i)
        if (!m.hidden(i, j)) sum -= d_shifted(i, j) * exp(term - m.column(i, j));
      if (!up.d_column_lse.empty()) sum += up.d_column_lse[column] * exp(term - m.last_column[j]);
      return sum;
    };
    for (int64_t u = 0; u < m.tq; ++u) d(u, j) += sent_up(m.biased(u, j), u + 1);
    if (!grad.column_lse.empty()) grad.column_lse[column] = sent_up(m.first_column[j], 0);
  }
}

template <class T>
void head_backward(const Case& c, const Values<T>& x, const Head<T>& m, const Upstream<T>& up, Values<T>& grad) {
  const Backward<T> to{c, x, up, grad};
  const Matrix<T> d_attention = attention_backward(to, m);
  Matrix<T> d(m.tq, m.tk);  // d_shifted, then d_biased
  for (int64_t i = 0; i < m.tq; ++i) {
    const int64_t row = c.query_row(m.b, m.h, i);
    std::vector<T> d_weight(m.tk);
    for (int64_t j = 0; j < m.tk; ++j) {
      // A = weight * gaussian, gaussian = exp(-(j - centre)^2 / (2 sigma^2))
      d_weight[j] = d_attention(i, j) * m.gaussian(i, j);
      const T sigma = T(c.problem.region.centre_sigma);
      if (!x.centre.empty() && sigma > T(0))
        grad.centre[row] += d_attention(i, j) * m.attention(i, j) * (T(j) - x.centre[row]) / (sigma * sigma);
    }
    const std::vector<T> d_row = normalise_backward(to, m, i, d_weight);
    for (int64_t j = 0; j < m.tk; ++j) d(i, j) = d_row[j];
  }
  if (c.problem.forced_forward.on) forced_forward_backward(to, m, d);

  const T cap = T(c.problem.score.softcap);
  const int64_t dim = c.shape().dim;
  for (int64_t i = 0; i < m.tq; ++i)
    for (int64_t j = 0; j < m.tk; ++j) {
      if (m.hidden(i, j)) continue;
      pair_bias_backward(c, {m.b, m.h, i, j}, d(i, j), grad);
      T d_raw = d(i, j);
      if (cap > T(0)) {
        const T height = tanh(m.raw(i, j) / cap);
        d_raw *= T(1) - height * height;
      }
      const int64_t query = c.query_row(m.b, m.h, i) * dim;
      const int64_t key = c.key_row(c.kv_heads(), m.b, m.g, j) * dim;
      const PairBackward<T> pair{x.q.data() + query, x.k.data() + key, d_raw, grad.q.data() + query,
                                 grad.k.data() + key};
      pair_score_backward(c, x, m.h, pair, grad);
    }
}

}  // namespace heed::kernels::test
