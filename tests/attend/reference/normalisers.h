// From one row of scores to weights. A hidden pair has the score -inf and gets the weight 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "tests/attend/reference/matrix.h"

namespace heed::attend::test {

inline constexpr double kHidden = -std::numeric_limits<double>::infinity();

inline int64_t visible_of(const Row& e) {
  return static_cast<int64_t>(e.size()) - std::count(e.begin(), e.end(), kHidden);
}

/// `sink`: one more score in the denominator; -inf for none.
inline Row softmax_of(const Row& e, double sink = kHidden) {
  Row p(e.size(), 0.0);
  if (visible_of(e) == 0) return p;
  const double top = std::max(sink, *std::max_element(e.begin(), e.end()));
  double sum = std::exp(sink - top);
  for (const double score : e) sum += std::exp(score - top);
  for (size_t j = 0; j < e.size(); ++j) p[j] = std::exp(e[j] - top) / sum;
  return p;
}

inline double entropy_of(const Row& p) {
  double entropy = 0.0;
  for (const double weight : p)
    if (weight > 0.0) entropy -= weight * std::log(weight);
  return entropy;
}

/// The first of the largest, or -1.
inline int64_t argmax_of(const Row& e) {
  int64_t best = -1;
  for (size_t j = 0; j < e.size(); ++j)
    if (e[j] > (best < 0 ? kHidden : e[best])) best = static_cast<int64_t>(j);
  return best;
}

/// f(e_j - tau) with the tau that makes the sum 1, found by halving: f falls from above 1 to 0 between top - reach and
/// top.
template <class F>
Row with_threshold(const Row& e, double reach, const F& f) {
  Row p(e.size(), 0.0);
  if (visible_of(e) == 0) return p;
  double high = *std::max_element(e.begin(), e.end()), low = high - reach;
  for (int step = 0; step < 80; ++step) {
    const double tau = 0.5 * (low + high);
    double sum = 0.0;
    for (const double score : e) sum += f(score - tau);
    (sum >= 1.0 ? low : high) = tau;
  }
  for (size_t j = 0; j < e.size(); ++j) p[j] = f(e[j] - low);
  return p;
}

/// Martins and Astudillo 2016: [e - tau]_+
inline Row sparsemax_of(const Row& e) {
  return with_threshold(e, 1.0, [](double z) { return std::max(z, 0.0); });
}

/// Peters et al. 2019: [(e - tau) / 2]_+^2
inline Row entmax15_of(const Row& e) {
  return with_threshold(e, 2.0, [](double z) { return std::pow(std::max(z, 0.0) / 2.0, 2.0); });
}

inline Row one_by_one(const Options& o, const Row& e) {
  Row p(e.size(), 0.0);
  for (size_t j = 0; j < e.size(); ++j) {
    if (e[j] == kHidden) continue;
    p[j] = o.normalise == "relu" ? std::max(e[j], 0.0) : o.normalise == "sigmoid" ? sigmoid_of(e[j]) : e[j];
    if (o.divide_by_visible) p[j] /= static_cast<double>(visible_of(e));
  }
  return p;
}

/// All but hard and hard_sampled, which attention.h puts together from softmax and the choice.
inline Row normalised(const Options& o, const Row& e, double sink) {
  const std::string& name = o.normalise;
  if (name == "softmax") return softmax_of(e, sink);
  if (name == "sparsemax") return sparsemax_of(e);
  if (name == "entmax15") return entmax15_of(e);
  if (name == "relu" || name == "sigmoid" || name == "identity") return one_by_one(o, e);
  throw std::runtime_error("the reference knows no normaliser '" + name + "'");
}

}  // namespace heed::attend::test
