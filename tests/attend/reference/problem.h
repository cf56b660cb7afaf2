// What the reference is asked and what it answers: everything in double, everything kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heed/attend/options.h"
#include "tests/kernels/matrix.h"

namespace heed::attend::test {

using Matrix = kernels::test::Matrix<double>;

/// Inputs and parameters by name; their gradients are kept in the same form. The inputs are called
///   input.keys     [key rows, key_width]
///   input.values   [key rows, value_width]        where keys and values differ
///   input.queries  [query rows, query_width]      where the queries are neither the keys nor learned
///   input.bias     [query rows, longest memory]   where one is added to the scores
using Values = std::map<std::string, Matrix>;

/// How the rows are cut into sequences, and what else is known of them.
struct Layout {
  std::vector<int64_t> key_offsets, query_offsets;      // [B + 1]; no query offsets: learned queries, or static
  std::vector<int32_t> key_documents, query_documents;  // an id per row
  std::vector<int32_t> lengths;                         // [B] keys that count; empty: all
  std::vector<uint8_t> mask;                            // [query rows, longest memory]; nonzero: visible; empty: all
  std::vector<int64_t> sentences;                       // hierarchical: document d holds the sequences [d], [d + 1]

  int64_t batch() const { return static_cast<int64_t>(key_offsets.size()) - 1; }
  int64_t keys(int64_t b) const { return key_offsets[b + 1] - key_offsets[b]; }
  int64_t counted_keys(int64_t b) const { return lengths.empty() ? keys(b) : lengths[b]; }
  int64_t longest_keys() const {
    int64_t longest = 0;
    for (int64_t b = 0; b < batch(); ++b) longest = std::max(longest, keys(b));
    return longest;
  }
};

/// [batch, heads, queries, keys], zero where there is no pair.
struct Dense {
  int64_t batch = 0, heads = 0, queries = 0, keys = 0;
  std::vector<double> data;

  Dense() = default;
  Dense(int64_t b, int64_t h, int64_t q, int64_t k) : batch(b), heads(h), queries(q), keys(k), data(b * h * q * k) {}

  double& operator()(int64_t b, int64_t h, int64_t i, int64_t j) {
    return data[((b * heads + h) * queries + i) * keys + j];
  }
  double operator()(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return data[((b * heads + h) * queries + i) * keys + j];
  }
};

struct Result {
  Matrix context;
  Dense weights;
  Dense inner_weights;  // hierarchical: of the words
  Matrix entropy;       // [H, query rows], of the softmax behind the weights
  Matrix guide_cost;    // [H, query rows]
  Matrix log_prob;      // [samples * H, query rows], where `Frozen::samples` are given
  double penalty = 0.0;
  Dense soft;    // the softmax behind hard and hard_sampled
  Dense chosen;  // their weights, before a Gaussian
  Dense best;    // local_h: [B, H, Tq, 2], the best key and the expected one
};

/// Hard attention has no derivative; what the library gives instead is the derivative of another function, which stands
/// still where it was asked. With this given, the reference computes that function:
///   hard          weights = chosen + softmax(e) - soft       straight through: the value of `chosen`, the slope of
///   softmax hard_sampled  weights = chosen, log_prob = log softmax(e) at `samples`
///   local_h, straight_through  centre = best + expected - what was expected there
struct Frozen {
  Dense chosen, soft;
  std::vector<int64_t> samples;  // [samples * H, query rows], the chosen key or -1
  Dense best = {};
};

struct Question {
  const Options* options;
  const Layout* layout;
  const Frozen* frozen = nullptr;
};

}  // namespace heed::attend::test
