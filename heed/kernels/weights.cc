// Weights on request: rows recomputed from what the forward saved, for the heads and queries that were asked for only.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "heed/kernels/attention.h"
#include "heed/kernels/loop/block.h"
#include "heed/kernels/no_memory.h"

namespace heed::kernels {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();  // the score of a pair that is not visible

/// One request with its defaults filled in, and where each of its results stands.
class Target {
 public:
  Target(const Problem& p, const WeightsRequest& request)
      : request_(request),
        heads_(request.head_count < 0 ? p.shape.heads - request.first_head : request.head_count),
        queries_(request.query_count < 0 ? most_queries(p) - request.first_query : request.query_count),
        keys_(request.dense_keys > 0 ? request.dense_keys : most_keys(p)) {}

  int64_t heads() const { return heads_; }
  int64_t first_head() const { return request_.first_head; }
  int64_t first_query() const { return request_.first_query; }
  int64_t end_query(const Sequence& s) const { return std::min(s.queries, request_.first_query + queries_); }

  void check(const Problem& p, Status& status) const {
    const auto range = [](int64_t first, int64_t count, int64_t all) {
      return std::to_string(first) + " to " + std::to_string(first + count) + " of " + std::to_string(all);
    };
    if (request_.first_head < 0 || heads_ < 0 || request_.first_head + heads_ > p.shape.heads)
      status.refuse("weights.first_head, head_count: no such heads: " +
                    range(request_.first_head, heads_, p.shape.heads));
    if (request_.first_query < 0 || queries_ < 0)
      status.refuse("weights.first_query, query_count: no such queries: " +
                    range(request_.first_query, queries_, most_queries(p)));
    if (keys_ < most_keys(p))
      status.refuse("weights.dense_keys: expected 0 or at least " + std::to_string(most_keys(p)) +
                    ", the longest sequence, got " + std::to_string(keys_));
    if (request_.top_k < 0) status.refuse("weights.top_k: expected 0 or more, got " + std::to_string(request_.top_k));
  }

  void clear(int64_t batch) const {
    const int64_t rows = batch * heads_ * queries_;
    if (request_.dense) std::fill_n(request_.dense, rows * keys_, 0.0f);
    if (request_.top_weights) std::fill_n(request_.top_weights, rows * request_.top_k, 0.0f);
    if (request_.top_keys) std::fill_n(request_.top_keys, rows * request_.top_k, -1);
    if (request_.column_sums) std::fill_n(request_.column_sums, batch * heads_ * keys_, 0.0f);
  }

  /// The weights of one row; h and i count from the first one asked for.
  struct Row {
    int64_t b, h, i;
    const float* weights;
    const uint8_t* visible;  // [count]; null unless ranks()
    int64_t count;
  };
  /// Whether it needs to know which keys a query sees.
  bool ranks() const { return request_.top_k > 0; }
  void take(const Row& r) {
    if (request_.dense) std::copy_n(r.weights, r.count, request_.dense + number(r) * keys_);
    if (request_.column_sums)
      for (int64_t j = 0; j < r.count; ++j) request_.column_sums[(r.b * heads_ + r.h) * keys_ + j] += r.weights[j];
    if (ranks()) take_largest(r);
    if (request_.row) request_.row(r.b, request_.first_head + r.h, request_.first_query + r.i, r.weights, r.count);
  }

 private:
  int64_t number(const Row& r) const { return (r.b * heads_ + r.h) * queries_ + r.i; }

  /// A weight of 0 says that a key is not looked at, unless others have less (identity): then it is one like any other.
  void take_largest(const Row& r) {
    const float* weights = r.weights;
    const bool less_than_zero = std::any_of(weights, weights + r.count, [](float weight) { return weight < 0.0f; });
    order_.clear();
    for (int64_t j = 0; j < r.count; ++j)
      if (weights[j] != 0.0f || (less_than_zero && r.visible[j])) order_.push_back(static_cast<int32_t>(j));
    const size_t most = std::min<size_t>(order_.size(), static_cast<size_t>(request_.top_k));
    std::partial_sort(
        order_.begin(), order_.begin() + static_cast<int64_t>(most), order_.end(),
        [weights](int32_t a, int32_t c) { return weights[a] > weights[c] || (weights[a] == weights[c] && a < c); });
    for (size_t n = 0; n < most; ++n) {
      const int64_t at = number(r) * request_.top_k + static_cast<int64_t>(n);
      if (request_.top_weights) request_.top_weights[at] = weights[order_[n]];
      if (request_.top_keys) request_.top_keys[at] = order_[n];
    }
  }

  const WeightsRequest& request_;
  int64_t heads_, queries_, keys_;
  std::vector<int32_t> order_;
};

/// What is wrong with a problem and with what its forward left.
Status check_forward(const Problem& p, const Inputs& in, const Outputs& from) {
  Outputs needed = from;
  static float nowhere;
  if (!needed.out.data) needed.out.data = &nowhere;  // the output itself is not needed here
  Status status = check(p, in, needed);
  if (!status) return status;
  const bool choice = p.normalise.kind == Normaliser::argmax || p.normalise.kind == Normaliser::sampled;
  if (!from.saved && row_count(p) > 0) status.refuse("weights: expected the forward's outputs.saved, got null");
  if (choice && !from.choice && row_count(p) > 0)
    status.refuse("weights: argmax and sampled need the forward's outputs.choice, got null");
  if (!from.forced_saved && forced_saved_floats(p) > 0)
    status.refuse("weights: forced_forward needs the forward's outputs.forced_saved, got null");
  return status;
}

/// The weights of a query block's rows, side by side: [queries, longest].
class BlockWeights {
 public:
  /// `visibility`: which keys each query sees is wanted too.
  BlockWeights(Block& block, const Outputs& from, int64_t longest, bool visibility)
      : block_(block),
        from_(from),
        longest_(longest),
        dense_(static_cast<size_t>(block.geometry.width) * static_cast<size_t>(std::max<int64_t>(longest, 1))),
        visible_(visibility ? dense_.size() : 0) {}

  void compute(const BlockTask& task) {
    block_.load(task);
    load_rows();
    std::fill(dense_.begin(), dense_.end(), 0.0f);
    std::fill(visible_.begin(), visible_.end(), uint8_t{0});
    for (const int32_t key_block : block_.key_blocks)
      block_.for_pieces(key_block, [&](const Tile& piece, Cover seen) { take_piece(key_block, piece, seen); });
  }

  const float* row(int64_t r) const { return dense_.data() + r * longest_; }
  const uint8_t* visible(int64_t r) const { return visible_.empty() ? nullptr : visible_.data() + r * longest_; }

 private:
  /// What the forward left of each row.
  void load_rows() {
    RowState& rows = block_.rows;
    const BlockTask& task = block_.task;
    std::fill_n(rows.cost, block_.geometry.width, 0.0f);
    for (int c = 0; c < task.count; ++c) {
      const int64_t row = row_index(block_.problem, task.batch, task.head, task.first_query + c);
      rows.shift[c] = from_.saved[2 * row];
      rows.inverse[c] = from_.saved[2 * row + 1];
      rows.choice[c] = from_.choice ? from_.choice[row] : -1;
    }
  }

  void take_piece(int32_t key_block, const Tile& piece, Cover seen) {
    const Kernels& k = block_.kernels;
    const Tile t = piece.in(block_.tile_a);
    block_.load_keys(key_block);
    block_.scores(t, seen, nullptr);
    if (k.column) k.column->again(t, block_.sequence, block_.column_scratch);
    if (!visible_.empty())
      for (int c = 0; c < t.queries; ++c)
        for (int r = 0; r < t.keys; ++r)
          visible_[static_cast<size_t>((t.lane + c) * longest_ + t.key + r)] =
              t.at[static_cast<size_t>(r) * t.stride + static_cast<size_t>(c)] != kHidden;
    k.normaliser->weights(t, t, block_.rows);
    if (k.weigh) k.weigh->forward(t, block_.sequence, block_.rows, true);
    for (int c = 0; c < t.queries; ++c) {
      float* row = dense_.data() + (t.lane + c) * longest_ + t.key;
      for (int r = 0; r < t.keys; ++r) row[r] = t.at[static_cast<size_t>(r) * t.stride + static_cast<size_t>(c)];
    }
  }

  Block& block_;
  const Outputs& from_;
  int64_t longest_;
  std::vector<float> dense_;
  std::vector<uint8_t> visible_;  // like dense_, or empty
};

Status run_weights(const Problem& p, const Inputs& in, const Outputs& from, Target& target) {
  target.clear(p.shape.batch);
  const Geometry g = geometry(p);
  const ThreadMemoryLease memory;
  const Kernels kernels = make_kernels(p, {}, nullptr, memory->arena);
  if (kernels.column) kernels.column->begin_again(from);
  Block block({p, in, kernels, g, Direction::forward}, *memory);
  if (!block.reserve()) return no_memory();
  BlockWeights weights(block, from, most_keys(p), target.ranks());
  for (int64_t b = 0; b < p.shape.batch; ++b)
    for (int64_t h = 0; h < target.heads(); ++h) {
      const Sequence s = sequence(p, b);
      const int64_t last = target.end_query(s);
      // From the start of a block: a column's state was saved there.
      for (int64_t first = target.first_query() / g.width * g.width; first < last; first += g.width) {
        const int count = static_cast<int>(std::min<int64_t>(g.width, s.queries - first));
        weights.compute({static_cast<int32_t>(b), static_cast<int32_t>(target.first_head() + h), first, count});
        for (int64_t i = std::max(first, target.first_query()); i < std::min(last, first + count); ++i)
          target.take({b, h, i - target.first_query(), weights.row(i - first), weights.visible(i - first), s.keys});
      }
    }
  return {};
}

}  // namespace

Status weights(const Problem& p, const Inputs& in, const Outputs& from, const WeightsRequest& request) {
  return without_throwing([&] {
    Status status = check_forward(p, in, from);
    if (!status) return status;
    Target target(p, request);  // reads sizes, which must be sound
    target.check(p, status);
    return status ? run_weights(p, in, from, target) : status;
  });
}

}  // namespace heed::kernels
