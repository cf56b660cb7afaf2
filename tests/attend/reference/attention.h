// One attention: heads, projections, scores, time, weights, context; plain loops over everything.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/attend/reference/normalisers.h"
#include "tests/attend/reference/regions.h"
#include "tests/attend/reference/scores.h"
#include "tests/attend/reference/time.h"

namespace heed::attend::test {

/// Rows that ask, and where each sequence's begin.
struct Asking {
  Matrix rows;
  std::vector<int64_t> offsets;
  bool own_rows = true;  // false: made here (learned, static), so nothing that is given per query row belongs to them

  int64_t count(int64_t b) const { return offsets[b + 1] - offsets[b]; }
  int64_t longest() const {
    int64_t most = 0;
    for (size_t b = 0; b + 1 < offsets.size(); ++b) most = std::max(most, offsets[b + 1] - offsets[b]);
    return most;
  }
};

/// `per_sequence` rows for every sequence, all zero.
inline Asking made_rows(const Layout& layout, int64_t per_sequence, int64_t width) {
  Asking asking;
  asking.own_rows = false;
  for (int64_t b = 0; b <= layout.batch(); ++b) asking.offsets.push_back(b * per_sequence);
  asking.rows = Matrix(layout.batch() * per_sequence, width);
  return asking;
}

/// u = [first row; last row] of the sequence
inline Asking static_queries(const Values& x, const Layout& layout) {
  const Matrix& keys = at(x, "input.keys");
  Asking asking = made_rows(layout, 1, 2 * keys.cols);
  for (int64_t b = 0; b < layout.batch(); ++b) {
    if (layout.counted_keys(b) == 0) continue;
    for (int64_t d = 0; d < keys.cols; ++d) {
      asking.rows(b, d) = keys(layout.key_offsets[b], d);
      asking.rows(b, keys.cols + d) = keys(layout.key_offsets[b] + layout.counted_keys(b) - 1, d);
    }
  }
  return asking;
}

/// The queries as they enter the score.
inline Asking queries_of(const Question& ask, const Values& x) {
  const Options& o = *ask.options;
  const Layout& layout = *ask.layout;
  Asking asking;
  if (o.input == "learned_query") {
    const Matrix& learned = at(x, "queries");
    asking = made_rows(layout, learned.rows, learned.cols);
    for (int64_t r = 0; r < asking.rows.rows; ++r)
      for (int64_t d = 0; d < learned.cols; ++d) asking.rows(r, d) = learned(r % learned.rows, d);
    return asking;
  }
  if (o.time == "static") {
    asking = static_queries(x, layout);
  } else if (o.input == "self_attention") {
    asking.rows = at(x, "input.keys");
    asking.offsets = layout.key_offsets;
  } else {
    asking.rows = at(x, "input.queries");
    asking.offsets = layout.query_offsets;
  }
  if (o.project) asking.rows = linear_of(x, "query", asking.rows);
  return asking;
}

/// The scores of one sequence and head, -inf where a pair does not exist; and the centre of each query.
struct HeadScores {
  std::vector<Row> e;
  Row centre;
};

struct Attending {
  Question ask;
  const Values& x;
  Asking queries;
  Matrix keys, values;
  int64_t heads, kv_heads;
  Result result;

  const Options& options() const { return *ask.options; }
  const Layout& layout() const { return *ask.layout; }
  Place place(int64_t b, int64_t i, int64_t j, double centre) const {
    return {b, queries.own_rows ? queries.offsets[b] + i : -1, i, j, centre};
  }
};

inline Pair pair_of(const Attending& a, int64_t b, int64_t h, int64_t i, int64_t j) {
  const int64_t g = h / (a.heads / a.kv_heads);
  const int64_t dq = a.queries.rows.cols / a.heads, dk = a.keys.cols / a.kv_heads;
  return {part_of_row(a.queries.rows, a.queries.offsets[b] + i, h * dq, dq),
          part_of_row(a.keys, a.layout().key_offsets[b] + j, g * dk, dk), h, i, j};
}

inline HeadScores scores_of(const Attending& a, int64_t b, int64_t h) {
  const Options& o = a.options();
  HeadScores s;
  for (int64_t i = 0; i < a.queries.count(b); ++i) {
    Row e(a.layout().keys(b), kHidden);
    double centre = 0.0;
    if (has_region(o, "local_p") && !e.empty())
      centre = centre_of(a.x, pair_of(a, b, h, i, 0).q, static_cast<double>(a.layout().counted_keys(b)));
    for (int64_t j = 0; j < a.layout().keys(b); ++j) {
      if (!visible(a.ask, a.place(b, i, j, centre))) continue;
      e[j] = score(o, a.x, pair_of(a, b, h, i, j));
      if (has(a.x, "input.bias")) e[j] += at(a.x, "input.bias")(a.queries.offsets[b] + i, j);
    }
    s.e.push_back(e);
    s.centre.push_back(centre);
  }
  return s;
}

/// local_h: hides what is further than `window` from the best key of query i.
inline void around_best(Attending& a, HeadScores& s, int64_t b, int64_t h, int64_t i) {
  const Options& o = a.options();
  if (!has_region(o, "local_h")) return;
  Row& e = s.e[i];
  const Frozen* frozen = o.straight_through ? a.ask.frozen : nullptr;
  const int64_t best = frozen ? static_cast<int64_t>(frozen->best(b, h, i, 0)) : argmax_of(e);
  double expected = 0.0;
  const Row soft = softmax_of(e);
  for (size_t j = 0; j < e.size(); ++j) expected += soft[j] * static_cast<double>(j);
  a.result.best(b, h, i, 0) = static_cast<double>(best);
  a.result.best(b, h, i, 1) = expected;
  s.centre[i] = static_cast<double>(best) + (frozen ? expected - frozen->best(b, h, i, 1) : 0.0);
  for (int64_t j = 0; j < static_cast<int64_t>(e.size()); ++j)
    if (best < 0 || std::abs(j - best) > o.window) e[j] = kHidden;
}

/// hard, hard_sampled: what is chosen, and what stands in for a derivative (Frozen in problem.h).
inline Row chosen_weights(Attending& a, const Row& e, int64_t b, int64_t h, int64_t i) {
  const int64_t best = argmax_of(e);
  const Row soft = softmax_of(e);
  const Frozen* frozen = a.ask.frozen;
  Row weights(soft.size(), 0.0);
  for (size_t j = 0; j < soft.size(); ++j) {
    a.result.soft(b, h, i, j) = soft[j];
    if (!frozen) {
      weights[j] = static_cast<int64_t>(j) == best ? 1.0 : 0.0;
    } else {
      weights[j] = frozen->chosen(b, h, i, j);
      if (a.options().normalise == "hard") weights[j] += soft[j] - frozen->soft(b, h, i, j);
    }
    a.result.chosen(b, h, i, j) = weights[j];
  }
  if (!frozen || frozen->samples.empty()) return weights;
  const int64_t samples = a.options().samples, row = a.queries.offsets[b] + i;
  for (int64_t s = 0; s < samples; ++s) {
    const int64_t key = frozen->samples[(s * a.heads + h) * a.queries.rows.rows + row];
    if (key >= 0) a.result.log_prob(s * a.heads + h, row) = std::log(soft[key]);
  }
  return weights;
}

/// Weights of query i from its scores, and all that is said about them.
inline Row weights_of(Attending& a, const HeadScores& s, int64_t b, int64_t h, int64_t i) {
  const Options& o = a.options();
  const Row& e = s.e[i];
  const double sink = o.learned_sink ? row_of(at(a.x, "sink"), 0)[h] : kHidden;
  const bool chooses = o.normalise == "hard" || o.normalise == "hard_sampled";
  Row weights = chooses ? chosen_weights(a, e, b, h, i) : normalised(o, e, sink);
  const int64_t row = a.queries.offsets[b] + i;
  if (chooses || o.normalise == "softmax") a.result.entropy(h, row) = entropy_of(softmax_of(e, sink));
  for (size_t j = 0; j < e.size(); ++j) {
    if (e[j] != kHidden) weights[j] *= gaussian(o, a.place(b, i, j, s.centre[i]));
    const double i_share = static_cast<double>(i) / static_cast<double>(a.queries.count(b));
    const double j_share = static_cast<double>(j) / static_cast<double>(a.layout().counted_keys(b));
    if (o.time == "guided") a.result.guide_cost(h, row) += weights[j] * guide(i_share, j_share, o.guide_sigma);
    a.result.weights(b, h, i, j) = weights[j];
  }
  return weights;
}

/// The first of the largest weights among the pairs that exist (weights of `identity` may all be negative); -1 where no
/// key has any weight.
inline int64_t best_visible(Row weights, const Row& e) {
  const bool any = std::any_of(weights.begin(), weights.end(), [](double weight) { return weight != 0.0; });
  for (size_t j = 0; j < e.size(); ++j)
    if (e[j] == kHidden) weights[j] = kHidden;
  return any ? argmax_of(weights) : -1;
}

inline void attend_head(Attending& a, int64_t b, int64_t h) {
  HeadScores s = scores_of(a, b, h);
  const bool by_step = a.options().time == "forward_only";
  for (int64_t i = 0; i < a.queries.count(b) && !by_step; ++i) around_best(a, s, b, h, i);
  if (a.options().time == "forced_forward") s.e = forced_forward(s.e);
  const int64_t dv = a.values.cols / a.kv_heads, g = h / (a.heads / a.kv_heads);
  int64_t first = 0;  // forward_only: keys before this one are gone
  for (int64_t i = 0; i < a.queries.count(b); ++i) {
    for (int64_t j = 0; j < first; ++j) s.e[i][j] = kHidden;
    if (by_step) around_best(a, s, b, h, i);
    const Row weights = weights_of(a, s, b, h, i);
    if (a.options().time == "forward_only") first = std::max(first, best_visible(weights, s.e[i]));
    for (size_t j = 0; j < weights.size(); ++j)
      for (int64_t d = 0; d < dv && s.e[i][j] != kHidden; ++d)
        a.result.context(a.queries.offsets[b] + i, h * dv + d) +=
            weights[j] * a.values(a.layout().key_offsets[b] + j, g * dv + d);
  }
}

/// static: context and weights of each sequence for every row that was asked for. What is said of the one choice that
/// was made (entropy, log_prob) is said once.
inline void repeat_for_every_query(Result& r, const std::vector<int64_t>& offsets) {
  const int64_t batch = static_cast<int64_t>(offsets.size()) - 1;
  Result all = r;
  int64_t longest = 0;
  for (int64_t b = 0; b < batch; ++b) longest = std::max(longest, offsets[b + 1] - offsets[b]);
  all.context = Matrix(offsets.back(), r.context.cols);
  all.weights = Dense(batch, r.weights.heads, longest, r.weights.keys);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t row = offsets[b]; row < offsets[b + 1]; ++row) {
      for (int64_t d = 0; d < r.context.cols; ++d) all.context(row, d) = r.context(b, d);
      for (int64_t h = 0; h < r.weights.heads; ++h)
        for (int64_t j = 0; j < r.weights.keys; ++j) all.weights(b, h, row - offsets[b], j) = r.weights(b, h, 0, j);
    }
  r = all;
}

inline Result attention(const Question& ask, const Values& x) {
  const Options& o = *ask.options;
  Attending a{ask, x, queries_of(ask, x), at(x, "input.keys"), {}, o.heads, o.kv_heads > 0 ? o.kv_heads : o.heads, {}};
  a.values = has(x, "input.values") ? at(x, "input.values") : a.keys;
  if (o.project) {
    a.keys = linear_of(x, "key", a.keys);
    a.values = linear_of(x, "value", a.values);
  }
  const Layout& layout = *ask.layout;
  const int64_t rows = a.queries.rows.rows;
  a.result.context = Matrix(rows, a.heads * (a.values.cols / a.kv_heads));
  a.result.weights = a.result.soft = a.result.chosen =
      Dense(layout.batch(), a.heads, a.queries.longest(), layout.longest_keys());
  a.result.best = Dense(layout.batch(), a.heads, a.queries.longest(), 2);
  a.result.entropy = a.result.guide_cost = Matrix(a.heads, rows);
  if (ask.frozen && !ask.frozen->samples.empty()) a.result.log_prob = Matrix(a.heads * o.samples, rows);
  for (int64_t b = 0; b < layout.batch(); ++b)
    for (int64_t h = 0; h < a.heads; ++h) attend_head(a, b, h);
  if (o.project_output) a.result.context = linear_of(x, "output", a.result.context);
  if (o.time == "static" && !layout.query_offsets.empty()) repeat_for_every_query(a.result, layout.query_offsets);
  return a.result;
}

}  // namespace heed::attend::test
