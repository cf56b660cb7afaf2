// score(q, k) of one pair, formula by formula.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

#include "tests/attend/reference/matrix.h"

namespace heed::attend::test {

/// Su et al. 2021: the numbers 2i and 2i+1 of a row are a point in the plane, turned by the angle p 10000^(-2i / D).
inline Row turned(const Options& o, Row x, int64_t position) {
  for (size_t i = 0; o.position == "rotary" && i + 1 < x.size(); i += 2) {
    const double angle =
        static_cast<double>(position) * std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(x.size()));
    const double a = x[i], b = x[i + 1];
    x[i] = a * std::cos(angle) - b * std::sin(angle);
    x[i + 1] = a * std::sin(angle) + b * std::cos(angle);
  }
  return x;
}

/// One query and one key as they enter the score, and where they stand.
struct Pair {
  Row q, k;
  int64_t head = 0, position = 0, key = 0;
};

/// The product of what the score makes of q and k.
inline double product(const Options& o, const Pair& p, const Row& q, const Row& k) {
  return inner(turned(o, q, p.position), turned(o, k, p.key));
}

inline double cosine_of(const Options& o, const Pair& p) {
  const double lengths = std::sqrt(inner(p.q, p.q)) * std::sqrt(inner(p.k, p.k));
  return lengths > 0.0 ? product(o, p, p.q, p.k) / lengths : 0.0;
}

/// h_1 = act(W1 k + W2 q + b), h_{l+1} = act(W_l h_l + b_l), score v . h_depth. Additive is one layer of tanh.
inline double mlp_of(const Options& o, const Values& x, const Pair& p) {
  const bool additive = o.score != "mlp";
  const std::string act = additive ? "tanh" : o.activation;
  Row h = plus(times(at(x, "score.key.weight"), p.k), times(at(x, "score.query.weight"), p.q));
  if (has(x, "score.bias")) h = plus(h, row_of(at(x, "score.bias"), 0));
  for (double& value : h) value = activation_of(act, value);
  for (int64_t l = 1; !additive && l < o.depth; ++l) {
    const std::string layer = "score.layer." + std::to_string(l);
    h = plus(times(at(x, layer + ".weight"), h), row_of(at(x, layer + ".bias"), 0));
    for (double& value : h) value = activation_of(act, value);
  }
  return inner(row_of(at(x, "score.v"), 0), h);
}

inline double self_scored_of(const Options& o, const Values& x, const Pair& p) {
  const Row wk = times(at(x, "score.weight"), p.k);
  if (o.form == "linear") return std::tanh(wk[0] + at(x, "score.bias").data[0]);
  return inner(row_of(at(x, "score.v"), 0), tanh_of(wk));
}

inline double dense_of(const Values& x, const Pair& p) {
  Row hidden = plus(times(at(x, "score.hidden.weight"), p.q), row_of(at(x, "score.hidden.bias"), 0));
  for (double& value : hidden) value = value > 0.0 ? value : 0.0;
  return inner(row_of(at(x, "score.row.weight"), p.key), hidden) + at(x, "score.row.bias").data[p.key];
}

inline double random_of(const Options& o, const Values& x, const Pair& p) {
  return at(x, "score.table")(p.head * o.max_length + p.position, p.key);
}

inline double mixture_of(const Options& o, const Values& x, const Pair& p) {
  const Row mix = row_of(at(x, "score.mix"), 0);
  const double sum = std::exp(mix[0]) + std::exp(mix[1]) + std::exp(mix[2]);
  return (std::exp(mix[0]) * product(o, p, p.q, p.k) / std::sqrt(static_cast<double>(p.q.size())) +
          std::exp(mix[1]) * dense_of(x, p) + std::exp(mix[2]) * random_of(o, x, p)) /
         sum;
}

/// Before the softcap and the biases.
inline double raw_score(const Options& o, const Values& x, const Pair& p) {
  if (o.score == "dot") return product(o, p, p.q, p.k);
  if (o.score == "scaled_dot") return product(o, p, p.q, p.k) / std::sqrt(static_cast<double>(p.q.size()));
  if (o.score == "cosine") {
    const double factor = o.learned_temperature ? at(x, "score.temperature").data[0] : o.temperature;
    return factor * cosine_of(o, p);
  }
  if (o.score == "general" || o.score == "intra")
    return product(o, p, times_transposed(at(x, "score.weight"), p.q), p.k);
  if (o.score == "additive" || o.score == "concat" || o.score == "mlp") return mlp_of(o, x, p);
  if (o.score == "projected") {
    const std::string key = o.shared_projection ? "score.query.weight" : "score.key.weight";
    return product(o, p, times(at(x, "score.query.weight"), p.q), times(at(x, key), p.k)) + at(x, "score.bias").data[0];
  }
  if (o.score == "self_scored") return self_scored_of(o, x, p);
  if (o.score == "synthesizer_dense") return dense_of(x, p);
  if (o.score == "synthesizer_random") return random_of(o, x, p);
  if (o.score == "synthesizer_mixture") return mixture_of(o, x, p);
  throw std::runtime_error("the reference knows no score '" + o.score + "'");
}

/// What depends on the distance of query and key alone.
inline double position_bias(const Options& o, const Values& x, const Pair& p) {
  const int64_t distance = p.key - p.position;
  if (o.position == "alibi") {
    const double slope = std::pow(2.0, -8.0 * static_cast<double>(p.head + 1) / static_cast<double>(o.heads));
    return -slope * std::abs(static_cast<double>(distance));
  }
  if (o.position == "relative") {
    const int64_t clamped = std::max(-o.reach, std::min(o.reach, distance));
    return at(x, "position.table")(p.head, clamped + o.reach);
  }
  return 0.0;
}

inline double score(const Options& o, const Values& x, const Pair& p) {
  const double raw = raw_score(o, x, p);
  const double cap = o.softcap;
  return (cap > 0.0 ? cap * std::tanh(raw / cap) : raw) + position_bias(o, x, p);
}

}  // namespace heed::attend::test
