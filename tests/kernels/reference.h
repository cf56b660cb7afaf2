// The plain reference of everything in problem.h: written from the formulas, with every matrix materialised, one (b, h)
// at a time, in double, which says what is right, or with numbers that carry a bound on their error (bounded.h).
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "tests/kernels/reference_backward.h"
#include "tests/kernels/reference_head.h"

namespace heed::kernels::test {

template <class T>
Results<T> reference_forward(const Case& c, const Values<T>& x) {
  const int64_t dv = c.shape().value_dim;
  Results<T> r;
  r.out.assign(c.rows() * dv, T(0));
  r.weights.assign(c.pair_count(), T(0));
  if (c.soft()) r.lse.assign(c.rows(), T(0));
  if (c.has_entropy()) r.entropy.assign(c.rows(), T(0));
  if (c.has_guide()) r.guide_cost.assign(c.rows(), T(0));
  if (c.chooses()) r.log_prob.assign(c.rows(), T(0)), r.choice.assign(c.rows(), -1);
  if (c.problem.forced_forward.on) r.column_lse.assign(c.columns(), T(0));
  for (int64_t b = 0; b < c.shape().batch; ++b)
    for (int64_t h = 0; h < c.shape().heads; ++h) {
      const Head<T> m = head_forward(c, x, b, h);
      for (int64_t i = 0; i < m.tq; ++i) {
        const int64_t row = c.query_row(b, h, i);
        for (int64_t j = 0; j < m.tk; ++j) {
          if (m.hidden(i, j)) continue;
          const T* v = x.v.data() + c.key_row(c.kv_heads(), b, m.g, j) * dv;
          r.weights[c.pair_index(b, h, i, j)] = m.attention(i, j);
          for (int64_t n = 0; n < dv; ++n) r.out[row * dv + n] += m.keep(i, j) * m.attention(i, j) * v[n];
        }
        if (!r.lse.empty()) r.lse[row] = m.lse[i];
        if (!r.entropy.empty()) r.entropy[row] = m.entropy[i];
        if (!r.guide_cost.empty()) r.guide_cost[row] = m.guide_cost[i];
        if (!r.choice.empty()) r.choice[row] = m.choice[i], r.log_prob[row] = m.log_prob[i];
      }
      for (int64_t j = 0; j < m.tk && !r.column_lse.empty(); ++j)
        r.column_lse[c.key_row(c.shape().heads, b, h, j)] = m.last_column[j];
    }
  return r;
}

template <class T>
Values<T> reference_backward(const Case& c, const Values<T>& x, const Upstream<T>& up) {
  Values<T> grad = zeros_like(x);
  for (int64_t b = 0; b < c.shape().batch; ++b)
    for (int64_t h = 0; h < c.shape().heads; ++h) head_backward(c, x, head_forward(c, x, b, h), up, grad);
  return grad;
}

/// How near a case comes to a point where a derivative jumps: a relu at 0, a sparse weight that just appears, two keys
/// that tie for the best. Measured in units of the largest score, or 1. Tests choose another seed where it is too near
/// (fill_smooth(), below).
inline double nearest_kink(const Case& c) {
  const Normaliser kind = c.problem.normalise.kind;
  const bool relu_layers =
      c.problem.score.kind == ScoreKind::pair_mlp && c.problem.score.activation == Activation::relu;
  const int64_t dim = c.shape().dim;
  double nearest = INFINITY, largest = 1.0;
  for (int64_t b = 0; b < c.shape().batch; ++b)
    for (int64_t h = 0; h < c.shape().heads; ++h) {
      const Head<double> m = head_forward(c, c.x, b, h);
      for (int64_t i = 0; i < m.tq; ++i) {
        double best = -INFINITY, second = -INFINITY, tau = -INFINITY;
        for (int64_t j = 0; j < m.tk; ++j) {
          const double score = m.shifted(i, j), weight = m.weight(i, j);
          if (std::isfinite(score)) largest = std::max(largest, std::abs(score));
          if (score > best)
            second = best, best = score;
          else if (score > second)
            second = score;
          if (kind == Normaliser::sparsemax && weight > 0.0) tau = score - weight;
          if (kind == Normaliser::entmax15 && weight > 0.0) tau = score - 2.0 * std::sqrt(weight);
          // Exactly 0 is no kink but a flat place: every hidden unit of a relu layer is off.
          if (kind == Normaliser::relu && score != 0.0) nearest = std::min(nearest, std::abs(score));
          if (!c.x.centre.empty()) {
            const double distance = std::abs(static_cast<double>(j) - c.x.centre[c.query_row(b, h, i)]);
            nearest = std::min(nearest, std::abs(distance - static_cast<double>(c.problem.region.centre_half_width)));
          }
          if (relu_layers && score > -INFINITY)
            for (const auto& layer : mlp_sums(c, c.x, c.x.q.data() + c.query_row(b, h, i) * dim,
                                              c.x.k.data() + c.key_row(c.kv_heads(), b, m.g, j) * dim))
              for (double sum : layer) nearest = std::min(nearest, std::abs(sum));
        }
        if (kind == Normaliser::argmax && second > -INFINITY) nearest = std::min(nearest, best - second);
        for (int64_t j = 0; j < m.tk && tau > -INFINITY; ++j)
          nearest = std::min(nearest, std::abs(m.shifted(i, j) - tau));
      }
    }
  return nearest / largest;
}

/// Fills the case from the first seed, counting up from `seed`, that keeps every kink at least `margin` away. False
/// where no seed does.
inline bool fill_smooth(Case& c, uint64_t seed, double margin, double scale = 1.0) {
  for (uint64_t attempt = 0; attempt < 50; ++attempt)
    if (nearest_kink(c.fill(seed + attempt, scale)) >= margin) return true;
  return false;
}

}  // namespace heed::kernels::test
