// The loop, backward. Scores and weights are computed again tile by tile; nothing of size Tq x Tk was kept.
//   for each query block:  for each key block it sees:
//     W = weights again      dW = V dO^T      dV += W^T dO      dS = gradient of normalise      dQ += dS K, dK += dS^T
//     Q
// d_q belongs to the task. d_k, d_v and the bias tensor's gradient are shared between tasks: they add in turns.
#include <algorithm>
#include <cmath>

#include "heed/kernels/attention.h"
#include "heed/kernels/exact_math.h"
#include "heed/kernels/loop/forced_forward.h"
#include "heed/kernels/loop/ordered_sums.h"
#include "heed/kernels/loop/run.h"

namespace heed::kernels {
namespace {

void zero_rows(MutableRows rows, int64_t count, int64_t width) {
  if (rows.col == 1 && rows.row == width) {
    std::fill_n(rows.data, count * width, 0.0f);
    return;
  }
  for (int64_t r = 0; r < count; ++r) {
    if (rows.col == 1)
      std::fill_n(rows.at(r, 0), width, 0.0f);
    else
      for (int64_t c = 0; c < width; ++c) *rows.at(r, c) = 0.0f;
  }
}

/// Which sums the tasks share, and in what order each task adds to them.
class SharedSums {
 public:
  SharedSums(const Problem& p, const Gradients& grad, const Geometry& g, std::span<const BlockTask> tasks,
             CallArena& arena)
      : p_(p),
        grad_(grad),
        block_keys_(g.keys),
        key_blocks_(most_keys(p) / g.keys + 1),
        query_blocks_(most_queries(p) / g.width + 1),
        keys_(static_cast<size_t>(p.shape.batch * kv_heads(p) * key_blocks_), arena),
        bias_(grad.d_bias_tensor ? static_cast<size_t>(p.shape.batch * p.shape.heads * query_blocks_ * key_blocks_) : 0,
              arena),
        parameters_(1, arena),
        width_(g.width),
        bias_on_(grad.d_bias_tensor != nullptr),
        first_(arena.array<size_t>(tasks.size())),
        key_rank_(&arena),
        bias_rank_(&arena) {
    for_each_visit(p, g, tasks, arena, [&, last = tasks.size()](size_t task, int32_t block) mutable {
      if (task != last) first_[task] = key_rank_.size();
      last = task;
      key_rank_.push_back(keys_.enlist(key_slot(tasks[task], block)));
      if (bias_on_) bias_rank_.push_back(bias_.enlist(bias_slot(tasks[task], block)));
    });
    for (int64_t b = 0; b < p.shape.batch; ++b) {
      const Sequence s = sequence(p, b);
      for (int64_t g_head = 0; g_head < kv_heads(p); ++g_head)
        for (int64_t block = 0; block * g.keys < s.keys; ++block)
          if (keys_.visits(static_cast<size_t>((b * kv_heads(p) + g_head) * key_blocks_ + block)) == 0)
            zero_key_block(s, b, g_head, block * g.keys);
    }
    keys_.start();
    bias_.start();
  }

  /// Every task adds to parameters' gradients.
  void share_parameters(size_t tasks) {
    for (size_t n = 0; n < tasks; ++n) parameters_.enlist(0);
    parameters_.start();
  }

  void wait(const Block& b, size_t task, size_t visit) {
    const size_t at = first_[task] + visit;
    keys_.wait(key_slot(b.task, b.key_blocks[visit]), key_rank_[at]);
    // Begun by whoever comes first, when the rows are about to be used, rather than in a pass over memory before.
    if (key_rank_[at] == 0)
      zero_key_block(b.sequence, b.task.batch, b.kv_head, static_cast<int64_t>(b.key_blocks[visit]) * block_keys_);
    if (bias_on_) bias_.wait(bias_slot(b.task, b.key_blocks[visit]), bias_rank_[at]);
  }
  void pass(const Block& b, size_t task, size_t visit) {
    const size_t at = first_[task] + visit;
    keys_.pass(key_slot(b.task, b.key_blocks[visit]), key_rank_[at]);
    if (bias_on_) bias_.pass(bias_slot(b.task, b.key_blocks[visit]), bias_rank_[at]);
  }
  /// No task ever waits for another.
  bool independent() const { return !keys_.contended() && !bias_.contended() && !parameters_.contended(); }

  void wait_parameters(size_t task) { parameters_.wait(0, static_cast<int32_t>(task)); }
  void pass_parameters(size_t task) { parameters_.pass(0, static_cast<int32_t>(task)); }

 private:
  void zero_key_block(const Sequence& s, int64_t b, int64_t g, int64_t first) const {
    const int64_t count = std::min<int64_t>(block_keys_, s.keys - first);
    if (p_.score.kind != ScoreKind::none && grad_.d_k.data)
      zero_rows(key_rows(p_, grad_.d_k, s, b, g).from(first), count, p_.shape.dim);
    if (grad_.d_v.data) zero_rows(key_rows(p_, grad_.d_v, s, b, g).from(first), count, p_.shape.value_dim);
  }

  size_t key_slot(const BlockTask& t, int32_t block) const {
    return static_cast<size_t>((t.batch * kv_heads(p_) + t.head / group_size(p_)) * key_blocks_ + block);
  }
  /// One slot per part of the tensor that is really there: an axis with stride 0 is one part.
  size_t bias_slot(const BlockTask& t, int32_t block) const {
    const int64_t b = pair_strides(p_.bias).per_sequence() ? t.batch : 0, h = p_.bias.head ? t.head : 0;
    const int64_t i = p_.bias.query ? t.first_query / width_ : 0, j = p_.bias.key ? block : 0;
    return static_cast<size_t>(((b * p_.shape.heads + h) * query_blocks_ + i) * key_blocks_ + j);
  }

  const Problem& p_;
  const Gradients& grad_;
  int64_t block_keys_, key_blocks_, query_blocks_;
  OrderedSums keys_, bias_, parameters_;
  int width_;
  bool bias_on_;
  size_t* first_;  // of each task, into the ranks
  std::pmr::vector<int32_t> key_rank_, bias_rank_;
};

class Backward {
 public:
  Backward(const Problem& p, const BackwardInputs& from, const Gradients& grad, SharedSums& sums, CallArena& arena)
      : p_(p), from_(from), grad_(grad), sums_(sums), columns_(p.forced_forward.on ? column_count(p) : 0) {
    carry_ = arena.array<float>(static_cast<size_t>(columns_));
    if (from.d_column_lse)
      for (int64_t n = 0; n < columns_; ++n) carry_[n] = -from.d_column_lse[n];
  }

  void run(Block& b, size_t task) {
    load_rows(b);
    if (b.kernels.normaliser->gradient_needs_pass()) find_delta(b);
    std::fill_n(b.rows.d_centre, b.geometry.width, 0.0f);
    if (b.d_queries) std::fill_n(b.d_queries, b.kernels.score->query_gradient_floats(b.geometry.stride), 0.0f);
    if (b.d_parameters) std::fill_n(b.d_parameters, b.parameter_floats, 0.0f);

    for (size_t visit = 0; visit < b.key_blocks.size(); ++visit) {
      bool waited = false;
      b.for_pieces(b.key_blocks[visit],
                   [&](const Tile& piece, Cover seen) { run_piece(b, task, visit, piece, seen, waited); });
      if (!waited) sums_.wait(b, task, visit);
      sums_.pass(b, task, visit);
    }
    store(b, task);
  }

  /// After all tasks: what has reached the state before the first query. Where that was nothing, nothing depends on it.
  void store_column_gradient() const {
    if (!grad_.d_column_lse) return;
    for (int64_t n = 0; n < columns_; ++n)
      grad_.d_column_lse[n] = p_.forced_forward.column_lse[n] == -INFINITY ? 0.0f : 0.0f - carry_[n];
  }

 private:
  /// What the forward left of each row, and delta where it follows from the outputs.
  void load_rows(Block& b) const {
    const RowState& rows = b.rows;
    const int count = b.task.count;
    const Rows d_out = query_rows(p_, from_.d_out, b.sequence, b.task.batch, b.task.head).from(b.task.first_query);
    const Rows out = query_rows(p_, from_.out, b.sequence, b.task.batch, b.task.head).from(b.task.first_query);
    b.kernels.values->load_d_out(d_out, count, b.geometry.stride, b.d_out);
    b.d_out_rows = d_out;
    if (p_.normalise.kind == Normaliser::softmax)
      b.kernels.values->row_dots(b.d_out, b.geometry.stride, out, count, rows.delta);
    const int64_t first =
        row_index(p_, b.task.batch, b.task.head, b.task.first_query);  // the block's rows are neighbours
    for (int c = 0; c < count; ++c) {
      rows.shift[c] = from_.saved[2 * (first + c)];
      rows.inverse[c] = from_.saved[2 * (first + c) + 1];
    }
    const auto load = [&](const float* values, float* to) {
      if (values)
        std::copy_n(values + first, count, to);
      else
        std::fill_n(to, count, 0.0f);
    };
    load(from_.entropy, rows.entropy);
    load(from_.d_entropy, rows.d_entropy);
    load(from_.d_log_prob, rows.d_log_prob);
    load(from_.d_guide_cost, rows.d_cost);
    std::fill_n(rows.slope_sum, count, 0.0f);
    std::fill_n(rows.slope_d, count, 0.0f);
    if (from_.choice) std::copy_n(from_.choice + first, count, rows.choice);
    if (p_.normalise.kind != Normaliser::softmax) return;
    // delta = sum_j w_j d_w_j, for d_w of out and of the guide's cost; lse adds w_j d_lse to d_s_j.
    if (from_.d_guide_cost)
      for (int c = 0; c < count; ++c) rows.delta[c] += rows.d_cost[c] * from_.guide_cost[first + c];
    if (from_.d_lse)
      for (int c = 0; c < count; ++c) rows.delta[c] -= from_.d_lse[first + c];
  }

  /// Scores, weights and d_weights of a piece. Returns the tiles: scores (or weights over them), weights, after, d.
  struct Tiles {
    Tile scores, weights, after, d;
  };
  Tiles compute(Block& b, int32_t key_block, const Tile& piece, Cover seen) const {
    const Kernels& k = b.kernels;
    Tiles t;
    t.scores = piece.in(b.tile_a);
    // The weights may overwrite the scores where nobody reads those again.
    t.weights = k.normaliser->gradient_reads_scores() ? piece.in(b.tile_b) : t.scores;
    t.after = k.weigh ? piece.in(b.tile_d) : t.weights;
    t.d = piece.in(b.tile_c);
    b.load_keys(key_block);
    b.load_values(key_block);
    b.scores(t.scores, seen, b.capped);
    if (p_.forced_forward.on) {
      // b.column: from the state before the block, which the forward saved, to the state after it.
      const int64_t query_block = b.task.first_query / b.geometry.width;
      const int64_t at = forced_saved_index(p_, b.task.batch, b.task.head, query_block, b.geometry.width);
      std::copy_n(from_.forced_saved + at + piece.key, piece.keys, b.column);
      forced_forward_shift(t.scores, b.column, &b.forced, b.penalties);
    }
    k.normaliser->weights(t.scores, t.weights, b.rows);
    k.values->d_weights(t.d, b.value_rows, b.d_out, b.geometry.stride);
    if (k.weigh) k.weigh->backward(t.weights, t.after, t.d, b.sequence, b.rows);
    return t;
  }

  void find_delta(Block& b) const {
    for (const int32_t key_block : b.key_blocks)
      b.for_pieces(key_block, [&](const Tile& piece, Cover seen) {
        const Tiles t = compute(b, key_block, piece, seen);
        b.kernels.normaliser->accumulate(t.scores, t.weights, t.d, b.rows);
      });
    for (int c = 0; c < b.task.count; ++c)
      b.rows.delta[c] = b.rows.slope_sum[c] > 0.0f ? b.rows.slope_d[c] / b.rows.slope_sum[c] : 0.0f;
  }

  void run_piece(Block& b, size_t task, size_t visit, const Tile& piece, Cover seen, bool& waited) {
    const int32_t key_block = b.key_blocks[visit];
    const Tiles t = compute(b, key_block, piece, seen);
    b.kernels.normaliser->gradient(t.scores, t.weights, t.d, b.rows);
    if (!waited) sums_.wait(b, task, visit);
    waited = true;
    const int64_t first_key = static_cast<int64_t>(key_block) * b.geometry.keys;
    if (p_.forced_forward.on) {
      float* carry = carry_ + column_index(p_, b.sequence, b.task.batch, b.task.head) + piece.key;
      forced_forward_gradient(t.d, b.forced, b.column, carry);
    }
    if (grad_.d_v.data)
      b.kernels.values->d_values(t.after, b.d_out_rows, b.d_out, b.geometry.stride,
                                 key_rows(p_, grad_.d_v, b.sequence, b.task.batch, b.kv_head).from(first_key),
                                 b.d_value_scratch);
    float* d_parameters = b.d_parameters + (b.kernels.score ? b.kernels.score->parameter_floats() : 0);
    for (const auto& bias : b.kernels.biases) {
      bias->backward(t.d, b.sequence, d_parameters);
      d_parameters += bias->parameter_floats();
    }
    if (!b.kernels.score) return;
    if (p_.score.softcap > 0.0f) softcap_backward(p_.score.softcap, t.d, b.capped);
    b.kernels.score->backward(b.queries, b.keys, t.d, b.d_queries,
                              key_rows(p_, grad_.d_k, b.sequence, b.task.batch, b.kv_head).from(first_key),
                              b.d_parameters);
  }

  /// What the task alone owns, and in turn what all tasks share.
  void store(Block& b, size_t task) {
    if (b.kernels.score && grad_.d_q.data) {
      const MutableRows d_q = query_rows(p_, grad_.d_q, b.sequence, b.task.batch, b.task.head).from(b.task.first_query);
      if (b.key_blocks.empty())
        zero_rows(d_q, b.task.count, p_.shape.dim);  // the queries were not even prepared
      else
        b.kernels.score->store_query_gradient(b.queries, b.d_queries, d_q);
    }
    if (grad_.d_centre)
      for (int c = 0; c < b.task.count; ++c)
        grad_.d_centre[row_index(p_, b.task.batch, b.task.head, b.task.first_query + c)] = b.rows.d_centre[c];
    sums_.wait_parameters(task);
    const float* d_parameters = b.d_parameters;
    if (b.kernels.score) {
      b.kernels.score->add_parameter_gradient(d_parameters, b.task.head, grad_);
      d_parameters += b.kernels.score->parameter_floats();
    }
    for (const auto& bias : b.kernels.biases) {
      bias->add_parameter_gradient(d_parameters, b.task.head);
      d_parameters += bias->parameter_floats();
    }
    if (grad_.d_sink) {
      // The sink is a key without a value: d_sink = w_sink (0 - delta).
      double sum = 0.0;
      for (int c = 0; c < b.task.count; ++c)
        sum -= exact::exp(p_.bias.sink[b.task.head] - b.rows.shift[c]) * b.rows.inverse[c] * b.rows.delta[c];
      grad_.d_sink[b.task.head] += static_cast<float>(sum);
    }
    sums_.pass_parameters(task);
  }

  const Problem& p_;
  const BackwardInputs& from_;
  const Gradients& grad_;
  SharedSums& sums_;
  int64_t columns_;  // forced-forward ...
  float* carry_;     // ... minus the gradient of the columns' state, forced_forward_gradient()
};

/// Parameters' gradients begin at 0: every task adds to them.
void zero_parameter_gradients(const Problem& p, const Gradients& grad) {
  const auto zero = [](float* at, int64_t count) {
    if (at) std::fill_n(at, count, 0.0f);
  };
  const int64_t heads = p.shape.heads;
  int64_t last_width = p.shape.dim;
  for (int64_t l = 0; l < p.score.layer_count; ++l) {
    const MlpLayer& layer = p.score.layers[l];
    if (grad.d_layers) {
      zero(grad.d_layers[l].d_weight, layer.in * layer.out);
      zero(grad.d_layers[l].d_bias, layer.out);
    }
    last_width = layer.out;
  }
  for (int64_t h = 0; h < (p.score.v_head_stride ? heads : 1); ++h)
    zero(grad.d_score_v ? grad.d_score_v + h * p.score.v_head_stride : nullptr, last_width);
  zero(grad.d_alibi_slopes, heads);
  for (int64_t h = 0; h < (p.bias.relative_head_stride ? heads : 1); ++h)
    zero(grad.d_relative ? grad.d_relative + h * p.bias.relative_head_stride : nullptr, 2 * p.bias.relative_reach + 1);
  zero(grad.d_sink, heads);
  if (p.score.custom) zero(grad.d_custom_score, p.score.custom->parameters);
  if (p.bias.custom) zero(grad.d_custom_bias, p.bias.custom->parameters);
  if (!grad.d_bias_tensor) return;
  const Bias& bias = p.bias;
  const PairStrides strides = pair_strides(bias);
  const bool own = strides.per_sequence();
  for (int64_t b = 0; b < (own ? p.shape.batch : 1); ++b) {
    Sequence s{.queries = most_queries(p), .keys = most_keys(p)};
    if (own) s = sequence(p, b);
    Tile row{.packed_query = s.first_query, .batch = b};
    for (row.head = 0; row.head < (bias.head ? heads : 1); ++row.head)
      for (int64_t i = 0; i < (bias.query ? s.queries : 1); ++i)
        for (int64_t j = 0; j < (bias.key ? s.keys : 1); ++j)
          grad.d_bias_tensor[row.row_in(strides) + i * bias.query + j * bias.key] = 0.0f;
  }
}

}  // namespace

Status backward(const Problem& p, const Inputs& in, const BackwardInputs& from, const Gradients& grad) {
  Status status = check(p, in, from, grad);
  if (!status) return status;
  const Geometry g = geometry(p);
  const ThreadMemoryLease memory;
  CallArena& arena = memory->arena;
  const Kernels kernels = make_kernels(p, Direction::backward, {.d_entropy = from.d_entropy != nullptr}, &grad, arena);
  const std::pmr::vector<BlockTask> tasks = plan_tasks(p, g, false, arena);
  SharedSums sums(p, grad, g, tasks, arena);
  bool parameters = grad.d_sink != nullptr || (kernels.score && kernels.score->parameter_floats() > 0);
  for (const auto& bias : kernels.biases) parameters |= bias->parameter_floats() > 0;
  if (parameters) sums.share_parameters(tasks.size());
  zero_parameter_gradients(p, grad);
  Backward loop(p, from, grad, sums, arena);
  const int64_t dim = p.shape.dim, value_dim = p.shape.value_dim;
  const Touched touched[] = {{from.d_out, value_dim, true},
                             {from.out, value_dim, true},
                             {read_only(grad.d_q), dim, true},
                             {read_only(grad.d_k), dim, false},
                             {read_only(grad.d_v), value_dim, false}};
  const Call call{p, in, kernels, g, Direction::backward};
  const Ran ran = run_tasks({call, tasks, touched, sums.independent(), *memory},
                            [&](Block& block, size_t t) { loop.run(block, t); });
  loop.store_column_gradient();
  if (ran == Ran::no_memory) status.refuse("scratch: no memory for this problem's tiles; fewer threads need less");
  if (ran == Ran::interrupted) status.refuse("interrupted: the caller wanted no more of this");
  return status;
}

}  // namespace heed::kernels
