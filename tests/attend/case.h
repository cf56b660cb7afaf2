// One attention and a ragged batch for it, with all numbers: what library.h runs and the reference computes plainly.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "heed/attend/all.h"
#include "tests/attend/reference/reference.h"
#include "tests/kernels/case.h"

namespace heed::attend::test {

using kernels::test::Random;

struct Case {
  std::string name;
  Options options;
  std::vector<int64_t> key_lengths = {1, 5, 7};
  std::vector<int64_t> query_lengths = {3, 4, 6};  // where the queries are rows of their own
  bool mask = false;                               // hides a third of the pairs
  bool lengths = false;                            // the last keys of the longer sequences do not count
  bool bias = false;                               // a tensor is added to the scores
  bool query_rows = true;                          // static: false asks for one row per sequence
  uint64_t seed = 1;
};

inline std::vector<int64_t> offsets_of(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> offsets(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  return offsets;
}

/// What a mechanism attends with.
enum class Asks { rows, keys, nothing };
inline Asks asks_with(const Case& c) {
  const Options& o = c.options;
  if (o.input == "learned_query" || o.structure == "structured" || o.structure == "feed_forward" ||
      o.structure == "hierarchical" || !c.query_rows)
    return Asks::nothing;
  return o.input == "self_attention" || o.structure == "key_value" ? Asks::keys : Asks::rows;
}

/// A document every three rows of each sequence; queries of their own get one every two.
inline std::vector<int32_t> documents_of(const std::vector<int64_t>& lengths, int64_t every) {
  std::vector<int32_t> ids;
  for (const int64_t length : lengths)
    for (int64_t i = 0; i < length; ++i) ids.push_back(static_cast<int32_t>(i / every));
  return ids;
}

inline Layout layout_of(const Case& c) {
  Layout layout;
  layout.key_offsets = offsets_of(c.key_lengths);
  const Asks asks = asks_with(c);
  const std::vector<int64_t> queries = asks == Asks::keys ? c.key_lengths : c.query_lengths;
  if (asks != Asks::nothing) layout.query_offsets = offsets_of(queries);
  if (c.options.structure == "hierarchical_query") {  // of three words each, but for the last
    layout.key_documents = documents_of(c.key_lengths, 3);
  }
  if (has_region(c.options, "documents")) {
    layout.key_documents = documents_of(c.key_lengths, 3);
    layout.query_documents = documents_of(queries, asks == Asks::keys ? 3 : 2);
  }
  if (c.lengths)
    for (const int64_t length : c.key_lengths) layout.lengths.push_back(static_cast<int32_t>(length - length / 3));
  if (c.mask) {
    Random random(c.seed + 99);
    layout.mask.resize(layout.query_offsets.back() * layout.longest_keys());
    for (uint8_t& visible : layout.mask) visible = random.uniform() < 0.67 ? 1 : 0;
  }
  if (c.options.structure == "hierarchical") {  // the first document has one sentence, the second all others
    layout.sentences = {0, 1, layout.batch()};
  }
  return layout;
}

inline Matrix random_matrix(int64_t rows, int64_t cols, double scale, Random& random) {
  Matrix m(rows, cols);
  random.normal(m.data, scale);
  return m;
}

inline Values inputs_of(const Case& c, const Layout& layout) {
  const Options& o = c.options;
  Random random(c.seed);
  Values x;
  x["input.keys"] = random_matrix(layout.key_offsets.back(), o.key_width, 0.7, random);
  if (o.value_width > 0) x["input.values"] = random_matrix(layout.key_offsets.back(), o.value_width, 0.7, random);
  if (asks_with(c) == Asks::rows)
    x["input.queries"] = random_matrix(layout.query_offsets.back(), o.query_width, 0.7, random);
  if (c.bias) x["input.bias"] = random_matrix(layout.query_offsets.back(), layout.longest_keys(), 0.7, random);
  return x;
}

/// What the mechanism says beside the context, and so what goes into the loss.
inline Request request_of(const Case& c) {
  const Options& o = c.options;
  const bool single = o.structure == "single" || o.structure == "multi_head";
  Request request;
  request.weights = true;
  request.guide_cost = o.time == "guided";
  request.entropy =
      single && !o.learned_sink && (o.normalise == "softmax" || o.normalise == "hard" || o.normalise == "hard_sampled");
  request.penalty = o.structure == "structured";
  return request;
}

}  // namespace heed::attend::test
