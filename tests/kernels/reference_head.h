// All matrices of one (b, h), in the order of the formulas:
//
//   score -> softcap -> + biases -> hide -> forced-forward shift -> normalise -> Gaussian -> (guide) -> dropout ->
//   values
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "tests/kernels/reference.h"
#include "tests/kernels/reference_normalise.h"
#include "tests/kernels/reference_pair.h"
#include "tests/kernels/reference_score.h"

namespace heed::kernels::test {

/// The raw scores, and the scores as the normaliser sees them.
template <class T>
void score_head(const Case& c, const Values<T>& x, Head<T>& m) {
  const T infinity = std::numeric_limits<T>::infinity();
  const T cap = T(c.problem.score.softcap);
  const int64_t dim = c.shape().dim;
  for (int64_t i = 0; i < m.tq; ++i)
    for (int64_t j = 0; j < m.tk; ++j) {
      if (!pair_visible(c, x, {m.b, m.h, i, j})) {
        m.biased(i, j) = -infinity;
        continue;
      }
      const T* q = x.q.data() + c.query_row(m.b, m.h, i) * dim;
      const T* k = x.k.data() + c.key_row(c.kv_heads(), m.b, m.g, j) * dim;
      const T raw = stored(pair_score(c, x, m.h, q, k));
      const T capped = cap > T(0) ? cap * tanh(raw / cap) : raw;
      m.raw(i, j) = raw;
      m.biased(i, j) = stored(capped + stored(pair_bias(c, x, {m.b, m.h, i, j})));
    }
  m.shifted = m.biased;
  if (!c.problem.forced_forward.on) return;
  for (int64_t j = 0; j < m.tk; ++j) {
    T seen = x.column_lse.empty() ? -infinity : x.column_lse[c.key_row(c.shape().heads, m.b, m.h, j)];
    m.first_column[j] = seen;
    for (int64_t i = 0; i < m.tq; ++i) {
      m.column(i, j) = seen;
      if (seen != -infinity) m.shifted(i, j) = stored(m.shifted(i, j) - seen);
      seen = log_add(seen, m.biased(i, j));
    }
    m.last_column[j] = seen;
  }
}

template <class T>
void normalise_row(const Case& c, const Values<T>& x, Head<T>& m, int64_t i) {
  const T infinity = std::numeric_limits<T>::infinity();
  const Normaliser kind = c.problem.normalise.kind;
  const std::vector<T> score = m.row(m.shifted, i);
  std::vector<T> weight(m.tk, T(0));
  for (T value : score) m.visible[i] += value > -infinity ? T(1) : T(0);
  if (c.soft()) {
    const Softmax<T> s = softmax_row(score, x.sink.empty() ? nullptr : &x.sink[m.h]);
    m.lse[i] = s.lse;
    m.entropy[i] = s.entropy;
    m.sink[i] = s.sink;
    for (int64_t j = 0; j < m.tk; ++j) m.softmax(i, j) = s.weight[j], m.log_softmax(i, j) = s.log_weight[j];
    weight = s.weight;
  }
  if (kind == Normaliser::argmax || kind == Normaliser::sampled) {
    int32_t choice = -1;
    for (int64_t j = 0; j < m.tk; ++j)
      if (score[j] > (choice < 0 ? -infinity : score[choice])) choice = static_cast<int32_t>(j);
    // What is sampled is the library's to draw: its choice is given to the reference.
    if (kind == Normaliser::sampled && !c.choice.empty()) choice = c.choice[c.query_row(m.b, m.h, i)];
    weight.assign(m.tk, T(0));
    if (choice >= 0) weight[choice] = T(1), m.log_prob[i] = m.log_softmax(i, choice);
    m.choice[i] = choice;
  }
  if (kind == Normaliser::sparsemax) weight = sparsemax_row(score);
  if (kind == Normaliser::entmax15) weight = entmax15_row(score);
  if (kind == Normaliser::sigmoid || kind == Normaliser::relu || kind == Normaliser::identity)
    for (int64_t j = 0; j < m.tk; ++j) {
      if (score[j] == -infinity) continue;
      weight[j] = lone_weight(kind, score[j]);
      if (c.problem.normalise.divide_by_visible) weight[j] /= m.visible[i];
    }
  for (int64_t j = 0; j < m.tk; ++j) {
    if (m.hidden(i, j)) continue;
    m.weight(i, j) = weight[j];
    m.gaussian(i, j) = pair_gaussian(c, x, {m.b, m.h, i, j});
    if (c.has_guide()) m.guide(i, j) = pair_guide<T>(c, {m.b, m.h, i, j});
    if (c.has_guide()) m.guide_cost[i] += m.attention(i, j) * m.guide(i, j);
    if (!c.kept.empty())
      m.keep(i, j) = c.kept[c.pair_index(m.b, m.h, i, j)] ? T(1) / (T(1) - T(c.problem.dropout.p)) : T(0);
  }
}

template <class T>
Head<T> head_forward(const Case& c, const Values<T>& x, int64_t b, int64_t h) {
  Head<T> m;
  m.b = b;
  m.h = h;
  m.g = h / (c.shape().heads / c.kv_heads());
  m.tq = c.queries(b);
  m.tk = c.keys(b);
  for (Matrix<T>* zero :
       {&m.raw, &m.biased, &m.column, &m.shifted, &m.softmax, &m.log_softmax, &m.weight, &m.gaussian, &m.guide})
    *zero = Matrix<T>(m.tq, m.tk);
  m.keep = Matrix<T>(m.tq, m.tk, T(1));
  for (std::vector<T>* zero : {&m.entropy, &m.log_prob, &m.guide_cost, &m.sink, &m.visible}) zero->assign(m.tq, T(0));
  m.lse.assign(m.tq, -std::numeric_limits<T>::infinity());
  m.choice.assign(m.tq, -1);
  m.first_column.assign(m.tk, T(0));
  m.last_column.assign(m.tk, T(0));
  score_head(c, x, m);
  for (int64_t i = 0; i < m.tq; ++i) normalise_row(c, x, m, i);
  return m;
}

}  // namespace heed::kernels::test
