// One attention problem with all its numbers: what library.h runs and reference.h computes plainly.
//
//   Case c({.batch = 2, .heads = 2, .queries = 19, .keys = 37, .dim = 12, .value_dim = 10});
//   c.with_alibi().with_key_lengths({30, 37});
//   c.problem.region.causal = true;
//   c.fill(1);
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "heed/kernels/problem.h"
#include "tests/kernels/values.h"

namespace heed::kernels::test {

/// Numbers that are the same on every machine, each exactly a float.
class Random {
 public:
  explicit Random(uint64_t seed) : bits_(seed * 0x9E3779B97F4A7C15u + 1) {}

  double uniform() { return (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53; }
  double uniform(double low, double high) { return static_cast<float>(low + (high - low) * uniform()); }
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return static_cast<float>(radius * std::cos(2.0 * std::numbers::pi * uniform()));
  }
  void normal(std::vector<double>& to, double scale = 1.0) {
    for (double& value : to) value = static_cast<float>(scale * normal());
  }

 private:
  std::mt19937_64 bits_;
};

struct Case {
  Problem problem;  // sizes and switches. Its pointers stay null here: library.h sets them from the buffers below.
  std::vector<int64_t> query_offsets, key_offsets;
  std::vector<int32_t> key_lengths, query_lengths, query_documents, key_documents;
  std::vector<uint8_t> mask;
  bool custom_region = false;
  Values<double> x;
  std::vector<double> guide_tensor;
  Upstream<double> up;
  // What the library drew at random, for the reference to take over: kept weights [B, H, longest Tq, longest Tk].
  std::vector<uint8_t> kept;
  std::vector<int32_t> choice;

  explicit Case(Shape shape) {
    problem.shape = shape;
    problem.score.scale = shape.dim > 0 ? static_cast<float>(1.0 / std::sqrt(static_cast<double>(shape.dim))) : 1.0f;
  }

  // ------------------------------------------------------------------------------------------------ sizes and indices

  const Shape& shape() const { return problem.shape; }
  int64_t kv_heads() const { return shape().kv_heads > 0 ? shape().kv_heads : shape().heads; }
  int64_t queries(int64_t b) const {
    return query_offsets.empty() ? shape().queries : query_offsets[b + 1] - query_offsets[b];
  }
  int64_t keys(int64_t b) const { return key_offsets.empty() ? shape().keys : key_offsets[b + 1] - key_offsets[b]; }
  int64_t longest_queries() const {
    int64_t most = 0;
    for (int64_t b = 0; b < shape().batch; ++b) most = std::max(most, queries(b));
    return most;
  }
  int64_t longest_keys() const {
    int64_t most = 0;
    for (int64_t b = 0; b < shape().batch; ++b) most = std::max(most, keys(b));
    return most;
  }
  int64_t total_queries() const {
    return query_offsets.empty() ? shape().batch * shape().queries : query_offsets.back();
  }
  int64_t total_keys() const { return key_offsets.empty() ? shape().batch * shape().keys : key_offsets.back(); }
  int64_t rows() const { return shape().heads * total_queries(); }
  int64_t columns() const { return shape().heads * total_keys(); }

  /// Index of a row in contiguous [B, heads, T] or ragged [heads, total].
  int64_t query_row(int64_t b, int64_t h, int64_t i) const {
    if (!query_offsets.empty()) return h * query_offsets.back() + query_offsets[b] + i;
    return (b * shape().heads + h) * shape().queries + i;
  }
  int64_t key_row(int64_t heads, int64_t b, int64_t h, int64_t j) const {
    if (!key_offsets.empty()) return h * key_offsets.back() + key_offsets[b] + j;
    return (b * heads + h) * shape().keys + j;
  }
  /// Where row i of (b, h) begins in a bias or guide tensor of these strides.
  template <class Strides>
  int64_t tensor_row(const Strides& s, int64_t b, int64_t h, int64_t i) const {
    return h * s.head + (s.packed ? (query_offsets[b] + i) * s.query : b * s.batch + i * s.query);
  }
  /// Index of a pair in [B, H, longest Tq, longest Tk].
  int64_t pair_index(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return ((b * shape().heads + h) * longest_queries() + i) * longest_keys() + j;
  }
  int64_t pair_count() const { return shape().batch * shape().heads * longest_queries() * longest_keys(); }

  /// Where query i stands on the axis of the keys.
  int64_t position(int64_t b, int64_t i) const {
    switch (problem.region.align) {
      case Align::top_left:
        return i;
      case Align::bottom_right:
        return i + keys(b) - queries(b);
      case Align::offset:
        return i + problem.region.query_offset;
    }
    return i;
  }

  // --------------------------------------------------------------------------------------------- what the kinds allow

  bool soft() const {  // the kinds that have a softmax behind them
    const Normaliser kind = problem.normalise.kind;
    return kind == Normaliser::softmax || kind == Normaliser::argmax || kind == Normaliser::sampled;
  }
  bool chooses() const {
    return problem.normalise.kind == Normaliser::argmax || problem.normalise.kind == Normaliser::sampled;
  }
  bool has_entropy() const { return soft() && x.sink.empty(); }
  bool has_guide() const { return problem.guide.sigma > 0.0f || !guide_tensor.empty(); }

  // ----------------------------------------------------------------------------------------------------- adding parts

  /// Sequences of these lengths, packed. Either list may be empty: that side is not ragged.
  Case& with_ragged(const std::vector<int64_t>& query_counts, const std::vector<int64_t>& key_counts) {
    for (auto [counts, offsets] : {std::pair{&query_counts, &query_offsets}, std::pair{&key_counts, &key_offsets}}) {
      if (counts->empty()) continue;
      offsets->assign(1, 0);
      for (int64_t count : *counts) offsets->push_back(offsets->back() + count);
      problem.shape.batch = static_cast<int64_t>(counts->size());
    }
    return *this;
  }
  Case& with_tanh_sum(bool per_head = false) {
    problem.score.kind = ScoreKind::tanh_sum;
    problem.score.v_head_stride = per_head ? shape().dim : 0;
    x.score_v.resize(per_head ? shape().heads * shape().dim : shape().dim);
    return *this;
  }
  /// Hidden layers after the first, of these widths.
  Case& with_mlp(MlpActivation activation, const std::vector<int64_t>& widths) {
    problem.score.kind = ScoreKind::pair_mlp;
    problem.score.activation = activation;
    problem.score.layer_count = static_cast<int64_t>(widths.size());
    int64_t in = shape().dim;
    for (int64_t out : widths) {
      x.layer_weight.emplace_back(out * in);
      x.layer_bias.emplace_back(out);
      in = out;
    }
    x.score_v.resize(in);
    return *this;
  }
  Case& with_custom_score() {
    problem.score.kind = ScoreKind::custom;
    x.custom_score.resize(shape().dim);
    return *this;
  }
  /// A bias tensor that has these axes and broadcasts over the others. Where problem.bias.packed is set already, its
  /// queries are the rows of all sequences; guide tensors and masks likewise.
  Case& with_tensor(bool batch, bool head, bool query, bool key) {
    x.bias_tensor.resize(set_strides(problem.bias, batch, head, query, key));
    return *this;
  }
  Case& with_alibi() { return x.alibi_slopes.resize(shape().heads), *this; }
  Case& with_relative(int64_t reach, bool per_head) {
    problem.bias.relative_reach = reach;
    problem.bias.relative_head_stride = per_head ? 2 * reach + 1 : 0;
    x.relative.resize((per_head ? shape().heads : 1) * (2 * reach + 1));
    return *this;
  }
  Case& with_sink() { return x.sink.resize(shape().heads), *this; }
  Case& with_custom_bias() { return x.custom_bias.resize(2), *this; }
  Case& with_key_lengths(std::vector<int32_t> lengths) { return key_lengths = std::move(lengths), *this; }
  Case& with_query_lengths(std::vector<int32_t> lengths) { return query_lengths = std::move(lengths), *this; }
  /// Each sequence cut into `count` documents of about equal length on both sides.
  Case& with_documents(int64_t count) {
    for (int64_t b = 0; b < shape().batch; ++b) {
      for (int64_t i = 0; i < queries(b); ++i)
        query_documents.push_back(static_cast<int32_t>(b + i * count / queries(b)));
      for (int64_t j = 0; j < keys(b); ++j) key_documents.push_back(static_cast<int32_t>(b + j * count / keys(b)));
    }
    return *this;
  }
  Case& with_mask(MaskKind kind, bool per_batch, bool per_head) {
    const int64_t bytes = kind == MaskKind::bits ? (longest_keys() + 7) / 8 : longest_keys();
    Region& region = problem.region;
    const int64_t per_head_bytes = bytes * (region.mask_packed ? total_queries() : longest_queries());
    region.mask_kind = kind;
    region.mask_query = bytes;
    region.mask_head = per_head ? per_head_bytes : 0;
    region.mask_batch = per_batch ? per_head_bytes * (per_head ? shape().heads : 1) : 0;
    mask.resize(per_head_bytes * (per_head ? shape().heads : 1) * (per_batch ? shape().batch : 1));
    return *this;
  }
  Case& with_centre(float half_width, float sigma) {
    problem.region.centre_half_width = half_width;
    problem.region.centre_sigma = sigma;
    x.centre.resize(rows());
    return *this;
  }
  Case& with_custom_region() { return custom_region = true, *this; }
  Case& with_guide(float sigma) { return problem.guide.sigma = sigma, *this; }
  Case& with_guide_tensor(bool batch, bool head, bool query, bool key) {
    guide_tensor.resize(set_strides(problem.guide, batch, head, query, key));
    return *this;
  }
  Case& with_forced_forward(bool first_state = false) {
    problem.forced_forward.on = true;
    if (first_state) x.column_lse.resize(columns());
    return *this;
  }

  // --------------------------------------------------------------------------------------------------------- numbers

  /// Random numbers into everything that is there. `scale` multiplies q and k.
  Case& fill(uint64_t seed, double scale = 1.0) {
    Random random(seed);
    const Shape& s = shape();
    x.q.resize(s.heads * total_queries() * s.dim);
    x.k.resize(kv_heads() * total_keys() * s.dim);
    x.v.resize(kv_heads() * total_keys() * s.value_dim);
    random.normal(x.q, scale);
    random.normal(x.k, scale);
    random.normal(x.v);
    random.normal(x.score_v);
    for (size_t l = 0; l < x.layer_weight.size(); ++l) {
      const double fan_in = static_cast<double>(x.layer_weight[l].size()) / static_cast<double>(x.layer_bias[l].size());
      random.normal(x.layer_weight[l], 1.0 / std::sqrt(fan_in));
      random.normal(x.layer_bias[l], 0.3);
    }
    random.normal(x.bias_tensor);
    for (double& slope : x.alibi_slopes) slope = random.uniform(0.05, 0.5);
    random.normal(x.relative);
    random.normal(x.sink);
    for (int64_t b = 0; b < s.batch && !x.centre.empty(); ++b)
      for (int64_t h = 0; h < s.heads; ++h)
        for (int64_t i = 0; i < queries(b); ++i)
          x.centre[query_row(b, h, i)] = random.uniform(0.0, static_cast<double>(keys(b)));
    for (double& a : x.custom_score) a = random.uniform(0.02, 0.2);
    random.normal(x.custom_bias);
    for (double& g : guide_tensor) g = random.uniform(0.0, 1.0);
    random.normal(x.column_lse);
    if (x.column_lse.size() > 2) x.column_lse[1] = -INFINITY;  // a key that nothing has seen yet
    for (uint8_t& m : mask) {
      if (problem.region.mask_kind == MaskKind::bytes) m = random.uniform() < 0.7 ? 1 + (m & 3) : 0;
      if (problem.region.mask_kind == MaskKind::bits) m = static_cast<uint8_t>(random.uniform(0.0, 256.0)) | 0x11;
    }
    // The second row of the mask hides everything.
    if (!mask.empty() && longest_queries() > 1)
      std::fill_n(mask.begin() + problem.region.mask_query, problem.region.mask_query, uint8_t(0));
    up.d_out.resize(rows() * s.value_dim);
    random.normal(up.d_out);
    up.d_lse.resize(problem.normalise.kind == Normaliser::softmax ? rows() : 0);
    up.d_log_prob.resize(problem.normalise.kind == Normaliser::sampled ? rows() : 0);
    up.d_entropy.resize(has_entropy() ? rows() : 0);
    up.d_guide_cost.resize(has_guide() ? rows() : 0);
    up.d_column_lse.resize(problem.forced_forward.on ? columns() : 0);
    random.normal(up.d_lse);
    random.normal(up.d_log_prob);
    random.normal(up.d_entropy);
    random.normal(up.d_guide_cost);
    random.normal(up.d_column_lse);
    return *this;
  }

 private:
  /// Strides of a compact tensor with the given axes; returns its size.
  template <class Broadcast>
  int64_t set_strides(Broadcast& to, bool batch, bool head, bool query, bool key) const {
    int64_t size = 1;
    const auto stride = [&size](bool present, int64_t count) {
      const int64_t mine = present ? size : 0;
      if (present) size *= count;
      return mine;
    };
    to.key = stride(key, longest_keys());
    to.query = stride(query, to.packed ? total_queries() : longest_queries());
    to.head = stride(head, shape().heads);
    to.batch = stride(batch, shape().batch);
    return size;
  }
};

/// The rows [first, first + count) of the queries of `c`.
inline Case some_queries(const Case& c, int64_t first, int64_t count) {
  Case part = c;
  part.problem.shape.queries = count;
  const auto cut = [&](const std::vector<double>& from, int64_t width) {
    std::vector<double> to;
    for (int64_t bh = 0; bh < c.shape().batch * c.shape().heads; ++bh) {
      const auto start = from.begin() + (bh * c.shape().queries + first) * width;
      to.insert(to.end(), start, start + count * width);
    }
    return to;
  };
  part.x.q = cut(c.x.q, c.shape().dim);
  part.up.d_out = cut(c.up.d_out, c.shape().value_dim);
  for (std::vector<double>* rows : {&part.up.d_lse, &part.up.d_entropy, &part.up.d_guide_cost, &part.up.d_log_prob})
    if (!rows->empty()) *rows = cut(*rows, 1);
  return part;
}

}  // namespace heed::kernels::test
