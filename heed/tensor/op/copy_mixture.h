// Two ways to a token: to write it from the vocabulary, or to copy it from the source.   See, Liu and Manning 2017
//
//   p(w) = g P(w) + (1 - g) m_w        g = sigmoid(gate); P: the softmax of the vocabulary; m_w: the weight on the
//                                      places of the source where w stands
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/kernels/exact_math.h"

namespace heed {

/// log sigmoid(x)
inline double log_sigmoid(double x) { return std::min(x, 0.0) - exact::log(1.0 + exact::exp(-std::abs(x))); }

struct CopyMixture {
  double log_p;           // log p(w)
  double written;         // the share of it that the vocabulary has: g P(w) / p(w)
  double d_gate, d_mass;  // the slopes of - log p(w)
};

/// `log_written`: log P(w), -infinity for a word that the vocabulary lacks. `mass`: m_w. A weight may be 0, and a
/// target must not cost infinity: p counts as at least e^-30, and the slope is at most that at e^-20.
inline CopyMixture mix_copy(double gate, double log_written, double mass) {
  constexpr double kLeast = -30.0, kSteepest = -20.0;
  const double log_g = log_sigmoid(gate), log_rest = log_sigmoid(-gate);
  const double a = log_g + log_written, b = log_rest + exact::log(std::max(mass, 0.0));
  const double largest = std::max(a, b);
  CopyMixture m{.log_p = kLeast, .written = 0.0, .d_gate = 0.0, .d_mass = -exact::exp(log_rest - kSteepest)};
  if (!(largest > kLeast)) return m;
  m.log_p = largest + exact::log(exact::exp(a - largest) + exact::exp(b - largest));
  m.written = exact::exp(a - m.log_p);
  const double copied = exact::exp(b - m.log_p), g = exact::exp(log_g), rest = exact::exp(log_rest);
  m.d_gate = copied * g - m.written * rest;
  m.d_mass = -exact::exp(log_rest - std::max(m.log_p, kSteepest));
  return m;
}

}  // namespace heed
