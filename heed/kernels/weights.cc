// Weights on request: rows recomputed from what the forward saved, for the heads and queries that were asked for only.
#include <algorithm>
#include <limits>
#include <vector>

#include "heed/kernels/attention.h"
#include "heed/kernels/loop/block.h"
#include "heed/kernels/loop/forced_forward.h"

namespace heed::kernels {
namespace {

/// One request with its defaults filled in, and where each of its results stands.
struct Target {
  const WeightsRequest& request;
  int64_t heads, queries, keys;

  int64_t row(int64_t b, int64_t h, int64_t i) const { return (b * heads + h) * queries + i; }

  void clear(int64_t batch) const {
    if (request.dense) std::fill_n(request.dense, batch * heads * queries * keys, 0.0f);
    if (request.top_weights) std::fill_n(request.top_weights, batch * heads * queries * request.top_k, 0.0f);
    if (request.top_keys) std::fill_n(request.top_keys, batch * heads * queries * request.top_k, -1);
    if (request.column_sums) std::fill_n(request.column_sums, batch * heads * keys, 0.0f);
  }

  /// h and i count from the first one asked for.
  void take(int64_t b, int64_t h, int64_t i, const float* weights, int64_t count, std::vector<int32_t>& order) const {
    if (request.dense) std::copy_n(weights, count, request.dense + row(b, h, i) * keys);
    if (request.column_sums)
      for (int64_t j = 0; j < count; ++j) request.column_sums[(b * heads + h) * keys + j] += weights[j];
    if (request.top_k > 0) {
      order.clear();
      for (int64_t j = 0; j < count; ++j)
        if (weights[j] != 0.0f) order.push_back(static_cast<int32_t>(j));
      const size_t most = std::min<size_t>(order.size(), static_cast<size_t>(request.top_k));
      std::partial_sort(
          order.begin(), order.begin() + static_cast<int64_t>(most), order.end(),
          [weights](int32_t a, int32_t c) { return weights[a] > weights[c] || (weights[a] == weights[c] && a < c); });
      for (size_t n = 0; n < most; ++n) {
        const int64_t at = row(b, h, i) * request.top_k + static_cast<int64_t>(n);
        if (request.top_weights) request.top_weights[at] = weights[order[n]];
        if (request.top_keys) request.top_keys[at] = order[n];
      }
    }
    if (request.row) request.row(b, request.first_head + h, request.first_query + i, weights, count);
  }
};

}  // namespace

Status weights(const Problem& p, const Inputs& in, const Outputs& from, const WeightsRequest& request) {
  Outputs needed = from;
  static float nowhere;
  if (!needed.out.data) needed.out.data = &nowhere;  // the output itself is not needed here
  Status status = check(p, in, needed);
  if (!status) return status;
  const bool choice = p.normalise.kind == Normaliser::argmax || p.normalise.kind == Normaliser::sampled;
  const int64_t heads = request.head_count < 0 ? p.shape.heads - request.first_head : request.head_count;
  const int64_t queries = request.query_count < 0 ? most_queries(p) - request.first_query : request.query_count;
  const int64_t longest = most_keys(p);
  const int64_t keys = request.dense_keys > 0 ? request.dense_keys : longest;
  const auto range = [](int64_t first, int64_t count, int64_t all) {
    return std::to_string(first) + " to " + std::to_string(first + count) + " of " + std::to_string(all);
  };
  if (!from.saved && row_count(p) > 0) status.refuse("weights: expected the forward's outputs.saved, got null");
  if (choice && !from.choice) status.refuse("weights: argmax and sampled need the forward's outputs.choice, got null");
  if (p.forced_forward.on && !from.forced_saved && forced_saved_floats(p) > 0)
    status.refuse("weights: forced_forward needs the forward's outputs.forced_saved, got null");
  if (request.first_head < 0 || heads < 0 || request.first_head + heads > p.shape.heads)
    status.refuse("weights.first_head, head_count: no such heads: " + range(request.first_head, heads, p.shape.heads));
  if (request.first_query < 0 || queries < 0)
    status.refuse("weights.first_query, query_count: no such queries: " +
                  range(request.first_query, queries, most_queries(p)));
  if (keys < longest)
    status.refuse("weights.dense_keys: expected 0 or at least " + std::to_string(longest) +
                  ", the longest sequence, got " + std::to_string(keys));
  if (request.top_k < 0) status.refuse("weights.top_k: expected 0 or more, got " + std::to_string(request.top_k));
  if (!status) return status;

  const Target target{request, heads, queries, keys};
  target.clear(p.shape.batch);
  const Geometry g = geometry(p);
  const ThreadMemoryLease memory;
  const Kernels kernels = make_kernels(p, Direction::forward, {}, nullptr, memory->arena);
  Block block({p, in, kernels, g, Direction::forward}, *memory);
  if (!block.reserve()) {
    status.refuse("scratch: no memory for this problem's tiles");
    return status;
  }
  std::vector<float> dense(static_cast<size_t>(g.width) * static_cast<size_t>(std::max<int64_t>(longest, 1)));
  std::vector<float> column(g.keys);
  std::vector<int32_t> order;
  for (int64_t b = 0; b < p.shape.batch; ++b)
    for (int64_t h = 0; h < heads; ++h) {
      const Sequence s = sequence(p, b);
      const int64_t last = std::min(s.queries, request.first_query + queries);
      // From the start of a block: forced-forward's state was saved there.
      for (int64_t first = request.first_query / g.width * g.width; first < last; first += g.width) {
        const int count = static_cast<int>(std::min<int64_t>(g.width, s.queries - first));
        block.load({static_cast<int32_t>(b), static_cast<int32_t>(request.first_head + h), first, count});
        std::fill_n(block.rows.cost, g.width, 0.0f);
        for (int c = 0; c < count; ++c) {
          const int64_t row = row_index(p, b, request.first_head + h, first + c);
          block.rows.shift[c] = from.saved[2 * row];
          block.rows.inverse[c] = from.saved[2 * row + 1];
          block.rows.choice[c] = choice ? from.choice[row] : -1;
        }
        std::fill(dense.begin(), dense.end(), 0.0f);
        for (const int32_t key_block : block.key_blocks)
          block.for_pieces(key_block, [&](const Tile& piece, Cover seen) {
            const Tile t = piece.in(block.tile_a);
            block.load_keys(key_block);
            block.scores(t, seen, nullptr);
            if (p.forced_forward.on) {
              const int64_t at = forced_saved_index(p, b, request.first_head + h, first / g.width, g.width);
              std::copy_n(from.forced_saved + at + t.key, t.keys, column.data());
              forced_forward_shift(t, column.data(), nullptr, block.penalties);
            }
            kernels.normaliser->weights(t, t, block.rows);
            if (kernels.weigh) kernels.weigh->forward(t, s, block.rows, true);
            for (int c = 0; c < t.queries; ++c)
              for (int r = 0; r < t.keys; ++r)
                dense[static_cast<size_t>(t.lane + c) * static_cast<size_t>(longest) + static_cast<size_t>(t.key + r)] =
                    t.at[static_cast<size_t>(r) * t.stride + static_cast<size_t>(c)];
          });
        for (int64_t i = std::max(first, request.first_query); i < std::min(last, first + count); ++i)
          target.take(b, h, i - request.first_query, dense.data() + (i - first) * longest, s.keys, order);
      }
    }
  return status;
}

}  // namespace heed::kernels
