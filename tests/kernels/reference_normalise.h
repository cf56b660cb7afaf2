// One row of scores into weights, and back. Hidden pairs have score -inf and get weight 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "heed/kernels/problem.h"
#include "tests/kernels/bounded.h"

namespace heed::kernels::test {

template <class T>
struct Softmax {
  T lse = -std::numeric_limits<T>::infinity();
  std::vector<T> weight;
  std::vector<T> log_weight;  // -inf where hidden
  T sink = 0;                 // the weight that the sink takes
  T entropy = 0;
};

/// Weights whose sum is 1 hold each other: w_j changes by w_j (de_j - sum_l w_l de_l), which is nothing where one
/// weight is 1, however large the scores and their errors are.
template <class T>
void bound_softmax(const std::vector<T>&, const T*, Softmax<T>&) {}
inline void bound_softmax(const std::vector<Bounded>& score, const Bounded* sink, Softmax<Bounded>& s) {
  double top = sink ? sink->value() : -INFINITY;
  for (const Bounded& e : score) top = std::max(top, e.value());
  // What is taken off all scores of a row may be 8 less than the largest; the difference is rounded.
  constexpr double kSlack = 8.0;
  const auto exponent_error = [&](const Bounded& e) {
    return e.value() == -INFINITY ? 0.0 : e.error() + Bounded::kUnit * std::max(top - e.value(), kSlack);
  };
  double mean = sink ? s.sink.value() * exponent_error(*sink) : 0.0, largest = 0.0;
  for (size_t j = 0; j < score.size(); ++j) {
    mean += s.weight[j].value() * exponent_error(score[j]);
    if (s.weight[j].value() > 0.0) largest = std::max(largest, exponent_error(score[j]));
  }
  const double growth = std::exp(2.0 * largest);  // beyond first order
  const auto bounded = [&](const Bounded& w, double error) {
    const double others = (1.0 - w.value()) * error + (mean - w.value() * error);
    const double rounding = Bounded::kUnit * (6.0 + std::sqrt(static_cast<double>(score.size())));
    const double room = static_cast<double>(std::numeric_limits<float>::min());
    return Bounded(w.value(), std::min(growth * w.value() * others + rounding * w.value() + room, 1.0));
  };
  for (size_t j = 0; j < score.size(); ++j)
    if (score[j].value() > -INFINITY) s.weight[j] = bounded(s.weight[j], exponent_error(score[j]));
  if (sink) s.sink = bounded(s.sink, exponent_error(*sink));
}

/// Softmax of a row; `sink`, where not null, is one more logit in the denominator. +inf scores share everything.
template <class T>
Softmax<T> softmax_row(const std::vector<T>& score, const T* sink) {
  const T infinity = std::numeric_limits<T>::infinity();
  Softmax<T> s;
  s.weight.assign(score.size(), T(0));
  s.log_weight.assign(score.size(), -infinity);
  T top = -infinity;
  for (T value : score) top = std::max(top, value);
  if (top == -infinity && !sink) return s;  // no key and no sink: nothing to share
  if (top == infinity) {
    const T winners = T(std::count(score.begin(), score.end(), infinity));
    s.lse = infinity;
    for (size_t j = 0; j < score.size(); ++j)
      if (score[j] == infinity) s.weight[j] = T(1) / winners, s.log_weight[j] = -log(winners);
    s.entropy = log(winners);
    return s;
  }
  if (sink) top = std::max(top, *sink);
  top = any_near(top);
  T sum = sink ? exp(*sink - top) : T(0);
  for (T value : score) sum += exp(value - top);
  s.lse = stored(top + log(sum));
  if (sink) s.sink = exp(*sink - top) / sum;
  for (size_t j = 0; j < score.size(); ++j) {
    if (score[j] == -infinity) continue;
    s.weight[j] = exp(score[j] - top) / sum;
    s.log_weight[j] = (score[j] - top) - log(sum);
    s.entropy -= s.weight[j] * s.log_weight[j];
  }
  bound_softmax(score, sink, s);
  return s;
}

/// The scores of pairs that exist, the largest first.
template <class T>
std::vector<T> visible_from_the_top(const std::vector<T>& score) {
  std::vector<T> sorted;
  for (T value : score)
    if (value > -std::numeric_limits<T>::infinity()) sorted.push_back(value);
  std::sort(sorted.begin(), sorted.end(), std::greater<T>());
  return sorted;
}

/// Martins and Astudillo 2016: p = [s - tau]_+ with sum 1.
template <class T>
std::vector<T> sparsemax_row(const std::vector<T>& score) {
  std::vector<T> p(score.size(), T(0));
  const std::vector<T> sorted = visible_from_the_top(score);
  if (sorted.empty()) return p;
  const T top = any_near(sorted[0]);
  T sum = 0, tau = 0;
  for (size_t n = 0; n < sorted.size(); ++n) {
    sum += sorted[n] - top;
    const T candidate = (sum - T(1)) / T(n + 1);
    if (sorted[n] - top > candidate) tau = candidate;
  }
  for (size_t j = 0; j < score.size(); ++j) p[j] = std::max(score[j] - top - tau, T(0));
  return p;
}

/// Peters et al. 2019: p = [s / 2 - tau]_+^2 with sum 1.
template <class T>
std::vector<T> entmax15_row(const std::vector<T>& score) {
  std::vector<T> p(score.size(), T(0));
  const std::vector<T> sorted = visible_from_the_top(score);
  if (sorted.empty()) return p;
  const T top = any_near(sorted[0]);
  T sum = 0, squares = 0, tau = 0;
  for (size_t n = 0; n < sorted.size(); ++n) {
    const T z = (sorted[n] - top) / T(2);
    sum += z;
    squares += z * z;
    const T count = T(n + 1);
    const T mean = sum / count;
    const T delta = (T(1) - (squares - sum * mean)) / count;
    const T candidate = mean - sqrt(std::max(delta, T(0)));
    if (candidate <= z) tau = candidate;
  }
  for (size_t j = 0; j < score.size(); ++j) {
    const T root = std::max((score[j] - top) / T(2) - tau, T(0));
    p[j] = root * root;
  }
  return p;
}

/// The kinds that look at each score alone: sigmoid, relu, identity.
template <class T>
T lone_weight(Normaliser kind, T score) {
  if (kind == Normaliser::sigmoid) return T(1) / (T(1) + exp(-score));
  if (kind == Normaliser::relu) return std::max(score, T(0));
  return score;
}
template <class T>
T lone_slope(Normaliser kind, T score) {
  if (kind == Normaliser::sigmoid) return T(1) / (T(1) + exp(-score)) / (T(1) + exp(score));
  if (kind == Normaliser::relu) return score > T(0) ? T(1) : T(0);
  return T(1);
}

template <class T>
T dot(const std::vector<T>& a, const std::vector<T>& b) {
  T sum = 0;
  for (size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

/// d_score of p = softmax(score), given p and d_p.
template <class T>
std::vector<T> softmax_backward(const std::vector<T>& p, const std::vector<T>& d_p) {
  const T mean = dot(p, d_p);
  std::vector<T> d(p.size());
  for (size_t j = 0; j < p.size(); ++j) d[j] = p[j] * (d_p[j] - mean);
  return d;
}

/// sparsemax: d_p minus its mean over the support. entmax15: the same, weighted by sqrt(p).
template <class T>
std::vector<T> sparse_backward(Normaliser kind, const std::vector<T>& p, const std::vector<T>& d_p) {
  std::vector<T> slope(p.size());
  T total = 0;
  for (size_t j = 0; j < p.size(); ++j) {
    slope[j] = kind == Normaliser::entmax15 ? sqrt(p[j]) : (p[j] > T(0) ? T(1) : T(0));
    total += slope[j];
  }
  std::vector<T> d(p.size(), T(0));
  if (total == T(0)) return d;
  const T mean = dot(slope, d_p) / total;
  for (size_t j = 0; j < p.size(); ++j) d[j] = slope[j] * (d_p[j] - mean);
  return d;
}

}  // namespace heed::kernels::test
