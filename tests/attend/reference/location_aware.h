// Chorowski et al. 2015: an additive score with filters over the weights of the step before.
#pragma once

#include <vector>

#include "tests/attend/reference/attention.h"

namespace heed::attend::test {

/// W1 k_j + W2 q_i + b + U f_j, f_j = F [before_(j-r) .. before_(j+r)]
inline Row hidden_of(const Values& x, const Pair& pair, const Row& before) {
  const Row key = times(at(x, "score.key.weight"), pair.k), query = times(at(x, "score.query.weight"), pair.q);
  const Row bias = row_of(at(x, "score.bias"), 0);
  const Matrix &filters = at(x, "location.filters.weight"), &weight = at(x, "location.weight");
  Row f(filters.rows, 0.0);
  for (int64_t c = 0; c < filters.rows; ++c)
    for (int64_t d = 0; d < filters.cols; ++d) {
      const int64_t place = pair.key + d - filters.cols / 2;
      if (place >= 0 && place < static_cast<int64_t>(before.size())) f[c] += filters(c, d) * before[place];
    }
  const Row located = times(weight, f);
  Row sum(key.size());
  for (size_t d = 0; d < sum.size(); ++d) sum[d] = key[d] + query[d] + bias[d] + located[d];
  return sum;
}

inline Result location_aware(const Question& ask, const Values& x) {
  const Options& o = *ask.options;
  const Layout& layout = *ask.layout;
  Attending a{ask, x, queries_of(ask, x), at(x, "input.keys"), {}, 1, 1, {}};
  a.values = has(x, "input.values") ? at(x, "input.values") : a.keys;
  const int64_t rows = a.queries.rows.rows;
  a.result.context = Matrix(rows, a.values.cols);
  a.result.weights = a.result.soft = a.result.chosen =
      Dense(layout.batch(), 1, a.queries.longest(), layout.longest_keys());
  a.result.best = Dense(layout.batch(), 1, a.queries.longest(), 2);
  a.result.entropy = a.result.guide_cost = Matrix(1, rows);
  for (int64_t b = 0; b < layout.batch(); ++b) {
    HeadScores s;
    Row before(layout.keys(b), 0.0);
    for (int64_t i = 0; i < a.queries.count(b); ++i) {
      Row e(layout.keys(b), kHidden);
      double centre = 0.0;
      if (has_region(o, "local_p") && !e.empty())
        centre = centre_of(x, pair_of(a, b, 0, i, 0).q, static_cast<double>(layout.counted_keys(b)));
      for (int64_t j = 0; j < layout.keys(b); ++j) {
        if (!visible(ask, a.place(b, i, j, centre))) continue;
        e[j] = inner(row_of(at(x, "score.v"), 0), tanh_of(hidden_of(x, pair_of(a, b, 0, i, j), before)));
        if (has(x, "input.bias")) e[j] += at(x, "input.bias")(a.queries.offsets[b] + i, j);
      }
      s.e.push_back(e);
      s.centre.push_back(centre);
      around_best(a, s, b, 0, i);
      before = weights_of(a, s, b, 0, i);
      for (size_t j = 0; j < before.size(); ++j)
        for (int64_t d = 0; d < a.values.cols && s.e[i][j] != kHidden; ++d)
          a.result.context(a.queries.offsets[b] + i, d) += before[j] * a.values(layout.key_offsets[b] + j, d);
    }
  }
  return a.result;
}

}  // namespace heed::attend::test
