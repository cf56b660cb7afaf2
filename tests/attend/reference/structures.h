// Attention with a shape of its own: structured, feed_forward, key_value, hierarchical.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tests/attend/reference/gru.h"
#include "tests/attend/reference/normalisers.h"

namespace heed::attend::test {

/// Rows [first, last) of a matrix.
inline Matrix rows_between(const Matrix& m, int64_t first, int64_t last) {
  Matrix part(last - first, m.cols);
  part.data.assign(m.data.begin() + first * m.cols, m.data.begin() + last * m.cols);
  return part;
}

/// ||A A^T - I||^2 of the first `rows` rows of weights
inline double penalty_of(const Dense& weights, int64_t b, int64_t rows) {
  double penalty = 0.0;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t s = 0; s < rows; ++s) {
      double product = r == s ? -1.0 : 0.0;
      for (int64_t j = 0; j < weights.keys; ++j) product += weights(b, 0, r, j) * weights(b, 0, s, j);
      penalty += product * product;
    }
  return penalty;
}

/// Which keys of a sequence count.
inline void hide_uncounted(Row& e, int64_t counted) {
  for (int64_t j = counted; j < static_cast<int64_t>(e.size()); ++j) e[j] = kHidden;
}

/// Lin et al. 2017: A = softmax(V_a tanh(W_a H^T)), C = A H.
inline Result structured(const Question& ask, const Values& x) {
  const Layout& layout = *ask.layout;
  const Matrix& keys = at(x, "input.keys");
  const Matrix& values = has(x, "input.values") ? at(x, "input.values") : keys;
  const Matrix& learned = at(x, "queries");
  const int64_t r = learned.rows;
  Result result;
  result.context = Matrix(layout.batch() * r, values.cols);
  result.entropy = Matrix(1, layout.batch() * r);
  result.weights = Dense(layout.batch(), 1, r, layout.longest_keys());
  for (int64_t b = 0; b < layout.batch(); ++b) {
    for (int64_t i = 0; i < r; ++i) {
      Row e;
      for (int64_t j = 0; j < layout.keys(b); ++j)
        e.push_back(
            inner(row_of(learned, i), tanh_of(times(at(x, "score.weight"), row_of(keys, layout.key_offsets[b] + j)))));
      hide_uncounted(e, layout.counted_keys(b));
      const Row weights = softmax_of(e);
      result.entropy(0, b * r + i) = entropy_of(weights);
      for (size_t j = 0; j < weights.size(); ++j) {
        result.weights(b, 0, i, j) = weights[j];
        for (int64_t d = 0; d < values.cols; ++d)
          result.context(b * r + i, d) += weights[j] * values(layout.key_offsets[b] + j, d);
      }
    }
    result.penalty += penalty_of(result.weights, b, r);
  }
  return result;
}

/// Raffel and Ellis 2016: e_t = tanh(w . h_t + b), c = sum alpha_t h_t: one row per sequence.
inline Result feed_forward(const Question& ask, const Values& x) {
  const Layout& layout = *ask.layout;
  const Matrix& keys = at(x, "input.keys");
  const Matrix& values = has(x, "input.values") ? at(x, "input.values") : keys;
  Result result;
  result.context = Matrix(layout.batch(), values.cols);
  result.entropy = Matrix(1, layout.batch());
  result.weights = Dense(layout.batch(), 1, 1, layout.longest_keys());
  for (int64_t b = 0; b < layout.batch(); ++b) {
    Row e;
    for (int64_t j = 0; j < layout.keys(b); ++j)
      e.push_back(std::tanh(times(at(x, "score.weight"), row_of(keys, layout.key_offsets[b] + j))[0] +
                            at(x, "score.bias").data[0]));
    hide_uncounted(e, layout.counted_keys(b));
    const Row weights = softmax_of(e);
    result.entropy(0, b) = entropy_of(weights);
    for (size_t j = 0; j < weights.size(); ++j) {
      result.weights(b, 0, 0, j) = weights[j];
      for (int64_t d = 0; d < values.cols; ++d)
        result.context(b, d) += weights[j] * values(layout.key_offsets[b] + j, d);
    }
  }
  return result;
}

/// Daniluk et al. 2017: rows [k; v] or, with predict, [k; v; p].
inline Result key_value(const Question& ask, const Values& x) {
  const Options& o = *ask.options;
  const Layout& layout = *ask.layout;
  const Matrix& rows = at(x, "input.keys");
  const int64_t parts = o.predict > 0 ? 3 : 2, d = rows.cols / parts;
  Result result;
  result.context = Matrix(rows.rows, d);
  result.entropy = Matrix(1, rows.rows);
  result.weights = Dense(layout.batch(), 1, layout.longest_keys(), layout.longest_keys());
  for (int64_t b = 0; b < layout.batch(); ++b)
    for (int64_t t = 0; t < layout.keys(b); ++t) {
      const int64_t first = layout.key_offsets[b];
      Row e(layout.keys(b), kHidden);
      const Row asks = times(at(x, "score.query.weight"), part_of_row(rows, first + t, 0, d));
      for (int64_t j = std::max<int64_t>(0, t - o.window); j < t; ++j)
        e[j] = inner(row_of(at(x, "score.v"), 0),
                     tanh_of(plus(times(at(x, "score.key.weight"), part_of_row(rows, first + j, 0, d)), asks)));
      const Row weights = softmax_of(e);
      result.entropy(0, first + t) = entropy_of(weights);
      Row read(d, 0.0);
      for (size_t j = 0; j < weights.size(); ++j) {
        result.weights(b, 0, t, j) = weights[j];
        for (int64_t c = 0; c < d; ++c) read[c] += weights[j] * rows(first + j, d + c);
      }
      const Row own = part_of_row(rows, first + t, (parts - 1) * d, d);
      const Row out =
          tanh_of(plus(times(at(x, "output.context.weight"), read), times(at(x, "output.value.weight"), own)));
      for (int64_t c = 0; c < d; ++c) result.context(first + t, c) = out[c];
    }
  return result;
}

/// One level of Yang et al. 2016: bidirectional GRU, u = tanh(W h + b), softmax(u . u_w), the weighted sum of h.
struct Level {
  Row vector, weights;
};
inline Level hierarchical_level(const Values& x, const std::string& name, const Matrix& rows) {
  const Matrix h = bidirectional_gru(x, name + ".gru", rows);
  const Matrix u = linear_of(x, name + ".score", h);
  Row e;
  for (int64_t r = 0; r < rows.rows; ++r)
    e.push_back(inner(tanh_of(row_of(u, r)), row_of(at(x, name + ".queries"), 0)));
  Level level{Row(h.cols, 0.0), softmax_of(e)};
  for (int64_t r = 0; r < rows.rows; ++r)
    for (int64_t d = 0; d < h.cols; ++d) level.vector[d] += level.weights[r] * h(r, d);
  return level;
}

inline Result hierarchical(const Question& ask, const Values& x) {
  const Layout& layout = *ask.layout;
  const Matrix& words = at(x, "input.keys");
  const int64_t documents = static_cast<int64_t>(layout.sentences.size()) - 1;
  const int64_t width = 2 * at(x, "sentence.gru.0.forward.state.weight").cols;
  int64_t most = 0;
  for (int64_t d = 0; d < documents; ++d) most = std::max(most, layout.sentences[d + 1] - layout.sentences[d]);
  Result result;
  result.context = Matrix(documents, width);
  result.weights = Dense(documents, 1, 1, most);
  result.inner_weights = Dense(layout.batch(), 1, 1, layout.longest_keys());
  for (int64_t d = 0; d < documents; ++d) {
    const int64_t first = layout.sentences[d], last = layout.sentences[d + 1];
    Matrix sentences(last - first, width);
    for (int64_t s = first; s < last; ++s) {
      const Level level =
          hierarchical_level(x, "word", rows_between(words, layout.key_offsets[s], layout.key_offsets[s + 1]));
      for (int64_t c = 0; c < width; ++c) sentences(s - first, c) = level.vector[c];
      for (size_t j = 0; j < level.weights.size(); ++j) result.inner_weights(s, 0, 0, j) = level.weights[j];
    }
    const Level level = hierarchical_level(x, "sentence", sentences);
    for (int64_t c = 0; c < width; ++c) result.context(d, c) = level.vector[c];
    for (size_t s = 0; s < level.weights.size(); ++s) result.weights(d, 0, 0, s) = level.weights[s];
  }
  if (ask.options->classes > 0) result.context = linear_of(x, "classifier", result.context);
  return result;
}

}  // namespace heed::attend::test
