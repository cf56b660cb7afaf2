#include "tests/kernels/reference.h"

#include <algorithm>
#include <cmath>

#include "tests/kernels/reference_backward.h"
#include "tests/kernels/reference_head.h"

namespace heed::kernels::test {

namespace {

template <class T>
Results<T> no_results(const Case& c) {
  Results<T> r;
  r.out.assign(c.rows() * c.shape().value_dim, T(0));
  r.weights.assign(c.pair_count(), T(0));
  if (c.soft()) r.lse.assign(c.rows(), T(0));
  if (c.has_entropy()) r.entropy.assign(c.rows(), T(0));
  if (c.has_guide()) r.guide_cost.assign(c.rows(), T(0));
  if (c.chooses()) r.log_prob.assign(c.rows(), T(0)), r.choice.assign(c.rows(), -1);
  if (c.problem.forced_forward.on) r.column_lse.assign(c.columns(), T(0));
  return r;
}

template <class T>
void head_results(const Case& c, const Values<T>& x, const Head<T>& m, Results<T>& r) {
  const int64_t dv = c.shape().value_dim;
  for (int64_t i = 0; i < m.tq; ++i) {
    const int64_t row = c.query_row(m.b, m.h, i);
    for (int64_t j = 0; j < m.tk; ++j) {
      if (m.hidden(i, j)) continue;
      const T* v = x.v.data() + c.key_row(c.kv_heads(), m.b, m.g, j) * dv;
      const T attention = m.attention(i, j), kept = m.keep(i, j) * attention;
      r.weights[c.pair_index(m.b, m.h, i, j)] = attention;
      for (int64_t n = 0; n < dv; ++n) r.out[row * dv + n] += kept * v[n];
    }
    if (!r.lse.empty()) r.lse[row] = m.lse[i];
    if (!r.entropy.empty()) r.entropy[row] = m.entropy[i];
    if (!r.guide_cost.empty()) r.guide_cost[row] = m.guide_cost[i];
    if (!r.choice.empty()) r.choice[row] = m.choice[i], r.log_prob[row] = m.log_prob[i];
  }
  for (int64_t j = 0; j < m.tk && !r.column_lse.empty(); ++j)
    r.column_lse[c.key_row(c.shape().heads, m.b, m.h, j)] = m.last_column[j];
}

template <class T, class Body>
void each_head(const Case& c, const Values<T>& x, Body body) {
  for (int64_t b = 0; b < c.shape().batch; ++b)
    for (int64_t h = 0; h < c.shape().heads; ++h) body(head_forward(c, x, b, h));
}

}  // namespace

template <class T>
Results<T> reference_forward(const Case& c, const Values<T>& x) {
  Results<T> r = no_results<T>(c);
  each_head(c, x, [&](const Head<T>& m) { head_results(c, x, m, r); });
  return r;
}

template <class T>
Values<T> reference_backward(const Case& c, const Values<T>& x, const Upstream<T>& up) {
  Values<T> grad = zeros_like(x);
  each_head(c, x, [&](const Head<T>& m) { head_backward(c, x, m, up, grad); });
  return grad;
}

template <class T>
Reference<T> reference(const Case& c, const Values<T>& x, const Upstream<T>& up) {
  Reference<T> r = {no_results<T>(c), zeros_like(x)};
  each_head(c, x, [&](const Head<T>& m) {
    head_results(c, x, m, r.results);
    head_backward(c, x, m, up, r.grad);
  });
  return r;
}

bool visible(const Case& c, int64_t b, int64_t h, int64_t i, int64_t j) { return pair_visible(c, c.x, {b, h, i, j}); }

double nearest_kink(const Case& c) {
  const Normaliser kind = c.problem.normalise.kind;
  const bool relu_layers =
      c.problem.score.kind == ScoreKind::pair_mlp && c.problem.score.activation == MlpActivation::relu;
  const bool kinked = relu_layers || !c.x.centre.empty() || kind == Normaliser::sparsemax ||
                      kind == Normaliser::entmax15 || kind == Normaliser::relu || kind == Normaliser::argmax;
  if (!kinked) return INFINITY;
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
            for (const auto& layer : mlp_units(c, c.x, c.x.q.data() + c.query_row(b, h, i) * dim,
                                               c.x.k.data() + c.key_row(c.kv_heads(), b, m.g, j) * dim)
                                         .sums)
              for (double sum : layer) nearest = std::min(nearest, std::abs(sum));
        }
        if (kind == Normaliser::argmax && second > -INFINITY) nearest = std::min(nearest, best - second);
        for (int64_t j = 0; j < m.tk && tau > -INFINITY; ++j)
          nearest = std::min(nearest, std::abs(m.shifted(i, j) - tau));
      }
    }
  return nearest / largest;
}

bool fill_smooth(Case& c, uint64_t seed, double margin, double scale) {
  for (uint64_t attempt = 0; attempt < 50; ++attempt)
    if (nearest_kink(c.fill(seed + attempt, scale)) >= margin) return true;
  return false;
}

template Head<float> head_forward(const Case&, const Values<float>&, int64_t, int64_t);
template Results<float> reference_forward(const Case&, const Values<float>&);
template Values<float> reference_backward(const Case&, const Values<float>&, const Upstream<float>&);
template Reference<float> reference(const Case&, const Values<float>&, const Upstream<float>&);
template Head<double> head_forward(const Case&, const Values<double>&, int64_t, int64_t);
template Results<double> reference_forward(const Case&, const Values<double>&);
template Values<double> reference_backward(const Case&, const Values<double>&, const Upstream<double>&);
template Reference<double> reference(const Case&, const Values<double>&, const Upstream<double>&);
template Head<Bounded> head_forward(const Case&, const Values<Bounded>&, int64_t, int64_t);
template Results<Bounded> reference_forward(const Case&, const Values<Bounded>&);
template Values<Bounded> reference_backward(const Case&, const Values<Bounded>&, const Upstream<Bounded>&);
template Reference<Bounded> reference(const Case&, const Values<Bounded>&, const Upstream<Bounded>&);

}  // namespace heed::kernels::test
