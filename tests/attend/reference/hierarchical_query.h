// Words and sentences weighed for each query: the same score at both levels, with parameters of its own at each.
#pragma once

#include <vector>

#include "tests/attend/reference/attention.h"

namespace heed::attend::test {

/// The parameters of one level: "word.score.v" -> "score.v".
inline Values of_level(const Values& x, const std::string& level) {
  Values some;
  for (const auto& [name, m] : x)
    if (name.rfind(level + ".", 0) == 0) some[name.substr(level.size() + 1)] = m;
  return some;
}

inline Result hierarchical_query(const Question& ask, const Values& x) {
  const Options& o = *ask.options;
  const Layout& layout = *ask.layout;
  const Asking queries = queries_of(ask, x);
  const Matrix& keys = at(x, "input.keys");
  const Matrix& values = has(x, "input.values") ? at(x, "input.values") : keys;
  const Values word = of_level(x, "word"), sentence = of_level(x, "sentence");
  Options upper = o;
  upper.key_width = values.cols;
  Result result;
  result.context = Matrix(queries.rows.rows, values.cols);
  result.weights = Dense(layout.batch(), 1, queries.longest(), layout.longest_keys());
  for (int64_t b = 0; b < layout.batch(); ++b)
    for (int64_t i = 0; i < queries.count(b); ++i) {
      const Row q = row_of(queries.rows, queries.offsets[b] + i);
      std::vector<Row> inside, vectors;
      std::vector<int64_t> begins;
      const int64_t first = layout.key_offsets[b], end = first + layout.counted_keys(b);
      for (int64_t begin = first; begin < end;) {
        int64_t next = begin + 1;
        while (next < end &&
               (layout.key_documents.empty() || layout.key_documents[next] == layout.key_documents[begin]))
          ++next;
        Row e, vector(values.cols, 0.0);
        for (int64_t r = begin; r < next; ++r) e.push_back(score(o, word, {q, row_of(keys, r), 0, i, r - begin}));
        const Row weights = normalised(o, e, kHidden);
        for (int64_t r = begin; r < next; ++r)
          for (int64_t d = 0; d < values.cols; ++d) vector[d] += weights[r - begin] * values(r, d);
        inside.push_back(weights);
        vectors.push_back(vector);
        begins.push_back(begin - first);
        begin = next;
      }
      Row e;
      for (size_t k = 0; k < vectors.size(); ++k)
        e.push_back(score(upper, sentence, {q, vectors[k], 0, i, static_cast<int64_t>(k)}));
      const Row outer = normalised(o, e, kHidden);
      for (size_t k = 0; k < vectors.size(); ++k) {
        for (int64_t d = 0; d < values.cols; ++d) result.context(queries.offsets[b] + i, d) += outer[k] * vectors[k][d];
        for (size_t j = 0; j < inside[k].size(); ++j)
          result.weights(b, 0, i, begins[k] + static_cast<int64_t>(j)) = outer[k] * inside[k][j];
      }
    }
  return result;
}

}  // namespace heed::attend::test
