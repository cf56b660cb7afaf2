// The loop, backward. Weights are recomputed tile by tile; nothing of size Tq x Tk was stored, unless the caller had
// the forward keep dear scores.
//   for each query block:  for each key block it sees:
//     W = weights again      dW = V dO^T      dV += W^T dO      dS = gradient of normalise
//     dQ += dS K             dK += dS^T Q
// d_q belongs to the task. d_k, d_v and the gradients of learned parameters are shared between tasks: they add in
// turns.
#include <algorithm>
#include <span>
#include <vector>

#include "heed/kernels/attention.h"
#include "heed/kernels/loop/ordered_sums.h"
#include "heed/kernels/loop/run.h"
#include "heed/kernels/no_memory.h"

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
  SharedSums(const Call& call, const Gradients& grad, std::span<const BlockTask> tasks, CallArena& arena)
      : p_(call.problem),
        geometry_(call.geometry),
        reads_keys_(call.kernels.score != nullptr),
        grad_(grad),
        in_place_(written_in_place(call)),
        key_blocks_(most_keys(p_) / geometry_.keys + 1),
        keys_(static_cast<size_t>(p_.shape.batch * kv_heads(p_) * key_blocks_), arena),
        bias_(in_place_ ? in_place_->places(geometry_) : 0, arena),
        parameters_(1, arena),
        first_(arena.array<size_t>(tasks.size())),
        key_rank_(&arena),
        bias_rank_(&arena) {
    for_each_visit(p_, geometry_, tasks, arena, [&, last = tasks.size()](size_t task, int32_t block) mutable {
      if (task != last) first_[task] = key_rank_.size();
      last = task;
      key_rank_.push_back(keys_.enlist(key_slot(tasks[task], block)));
      if (in_place_) bias_rank_.push_back(bias_.enlist(in_place_->place(geometry_, tasks[task], block)));
    });
    zero_unvisited_keys();
    keys_.start();
    bias_.start();
    // Every task adds to parameters' gradients.
    if (call.kernels.gradient_floats() > 0)
      for (size_t n = 0; n < tasks.size(); ++n) parameters_.enlist(0);
    parameters_.start();
  }

  void wait(const Block& b, size_t task, size_t visit) {
    const size_t at = first_[task] + visit;
    keys_.wait(key_slot(b.task, b.key_blocks[visit]), key_rank_[at]);
    // Zeroed by the first task to use the rows, instead of in a separate pass over memory.
    if (key_rank_[at] == 0) zero_key_block(b.sequence, b.task.batch, b.kv_head, b.key_blocks[visit]);
    if (in_place_) bias_.wait(in_place_->place(geometry_, b.task, b.key_blocks[visit]), bias_rank_[at]);
  }
  void pass(const Block& b, size_t task, size_t visit) {
    const size_t at = first_[task] + visit;
    keys_.pass(key_slot(b.task, b.key_blocks[visit]), key_rank_[at]);
    if (in_place_) bias_.pass(in_place_->place(geometry_, b.task, b.key_blocks[visit]), bias_rank_[at]);
  }
  /// No task ever waits for another.
  bool independent() const { return !keys_.contended() && !bias_.contended() && !parameters_.contended(); }

  void wait_parameters(size_t task) { parameters_.wait(0, static_cast<int32_t>(task)); }
  void pass_parameters(size_t task) { parameters_.pass(0, static_cast<int32_t>(task)); }

 private:
  /// The bias whose gradient is written in place, or null.
  static const BiasKernel* written_in_place(const Call& call) {
    for (const auto& bias : call.kernels.biases)
      if (bias->places(call.geometry) > 0) return bias.get();
    return nullptr;
  }

  void zero_unvisited_keys() const {
    for (int64_t b = 0; b < p_.shape.batch; ++b) {
      const Sequence s = sequence(p_, b);
      for (int64_t g = 0; g < kv_heads(p_); ++g)
        for (int64_t block = 0; block * geometry_.keys < s.keys; ++block)
          if (keys_.visits(static_cast<size_t>((b * kv_heads(p_) + g) * key_blocks_ + block)) == 0)
            zero_key_block(s, b, g, block);
    }
  }

  void zero_key_block(const Sequence& s, int64_t b, int64_t g, int64_t block) const {
    const int64_t first = block * geometry_.keys, count = std::min<int64_t>(geometry_.keys, s.keys - first);
    if (reads_keys_ && grad_.d_k.data) zero_rows(key_rows(p_, grad_.d_k, s, b, g).from(first), count, p_.shape.dim);
    if (grad_.d_v.data) zero_rows(key_rows(p_, grad_.d_v, s, b, g).from(first), count, p_.shape.value_dim);
  }

  size_t key_slot(const BlockTask& t, int32_t block) const {
    return static_cast<size_t>((t.batch * kv_heads(p_) + t.head / group_size(p_)) * key_blocks_ + block);
  }

  const Problem& p_;
  const Geometry& geometry_;
  bool reads_keys_;
  const Gradients& grad_;
  const BiasKernel* in_place_;
  int64_t key_blocks_;
  OrderedSums keys_, bias_, parameters_;
  size_t* first_;  // of each task, into the ranks
  std::pmr::vector<int32_t> key_rank_, bias_rank_;
};

class Backward {
 public:
  Backward(const Problem& p, const BackwardInputs& from, const Gradients& grad, SharedSums& sums)
      : p_(p), from_(from), grad_(grad), sums_(sums) {}

  void run(Block& b, size_t task) {
    load_rows(b);
    if (b.kernels.normaliser->gradient_needs_pass()) find_delta(b);
    std::fill_n(b.rows.d_centre, b.geometry.width, 0.0f);
    if (b.d_queries) std::fill_n(b.d_queries, b.kernels.score->query_gradient_floats(b.geometry.stride), 0.0f);
    if (b.parameter_sums) std::fill_n(b.parameter_sums, b.parameter_floats, 0.0f);

    for (size_t visit = 0; visit < b.key_blocks.size(); ++visit) {
      bool waited = false;
      b.for_pieces(b.key_blocks[visit], [&](const Tile& piece, Cover seen) {
        const Tiles t = compute(b, b.key_blocks[visit], piece, seen);
        b.kernels.normaliser->gradient(t.scores, t.weights, t.d, b.rows);
        if (!waited) sums_.wait(b, task, visit);
        waited = true;
        add_piece(b, b.key_blocks[visit], t);
      });
      if (!waited) sums_.wait(b, task, visit);
      sums_.pass(b, task, visit);
    }
    store(b, task);
  }

 private:
  /// What the forward saved for each row, and delta if it follows from the outputs.
  void load_rows(Block& b) const {
    const RowState& rows = b.rows;
    const int count = b.task.count;
    const Rows d_out = query_rows(p_, from_.d_out, b.sequence, b.task.batch, b.task.head).from(b.task.first_query);
    const Rows out = query_rows(p_, from_.out, b.sequence, b.task.batch, b.task.head).from(b.task.first_query);
    b.kernels.values->load_d_out(d_out, count, b.geometry.stride, b.d_out);
    b.d_out_rows = d_out;
    const bool delta = b.kernels.normaliser->delta_from_outputs();
    if (delta) b.kernels.values->row_dots(b.d_out, b.geometry.stride, out, count, rows.delta);
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
    if (!delta) return;
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
    // The weights may overwrite the scores if nothing reads those again.
    t.weights = k.normaliser->gradient_reads_scores() ? piece.in(b.tile_b) : t.scores;
    t.after = k.weigh ? piece.in(b.tile_d) : t.weights;
    t.d = piece.in(b.tile_c);
    b.load_keys(key_block);
    b.load_values(key_block);
    b.scores(t.scores, seen, b.capped);
    if (k.column) k.column->again(t.scores, b.sequence, b.column_scratch);
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

  /// In order: a piece's share of the sums that tasks have in common, and of the task's own d_q.
  void add_piece(Block& b, int32_t key_block, const Tiles& t) const {
    const Kernels& k = b.kernels;
    const int64_t first_key = static_cast<int64_t>(key_block) * b.geometry.keys;
    if (k.column) k.column->backward(t.d, b.sequence, b.column_scratch);
    if (grad_.d_v.data)
      k.values->d_values(t.after, {b.d_out_rows, b.d_out, static_cast<size_t>(b.geometry.stride)},
                         key_rows(p_, grad_.d_v, b.sequence, b.task.batch, b.kv_head).from(first_key),
                         b.d_value_scratch);
    float* sums = b.parameter_sums + (k.score ? k.score->gradient_floats() : 0);
    for (const auto& bias : k.biases) {
      bias->backward(t.d, b.sequence, sums);
      sums += bias->gradient_floats();
    }
    if (!k.score) return;
    if (p_.score.softcap > 0.0f) softcap_backward(p_.score.softcap, t.d, b.capped);
    const MutableRows d_k = key_rows(p_, grad_.d_k, b.sequence, b.task.batch, b.kv_head).from(first_key);
    k.score->backward(b.queries, b.keys, t.d, {b.d_queries, d_k, b.parameter_sums});
  }

  /// Stores what the task alone owns, and in order what all tasks share.
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
    const Kernels& k = b.kernels;
    if (b.parameter_floats > 0) {
      float* last = b.parameter_sums + b.parameter_floats - k.normaliser->gradient_floats();
      k.normaliser->parameter_gradient(b.rows, b.task, last);
    }
    sums_.wait_parameters(task);
    k.for_each_learned([&](const Learned& part, size_t at) { part.add_gradients(b.parameter_sums + at, b.task.head); });
    sums_.pass_parameters(task);
  }

  const Problem& p_;
  const BackwardInputs& from_;
  const Gradients& grad_;
  SharedSums& sums_;
};

Status run_backward(const Problem& p, const Inputs& in, const BackwardInputs& from, const Gradients& grad) {
  Status status = check(p, in, from, grad);
  if (!status) return status;
  const Geometry g = geometry(p);
  const ThreadMemoryLease memory;
  CallArena& arena = memory->arena;
  const Kernels kernels = make_kernels(p, {.d_entropy = from.d_entropy != nullptr}, &grad, arena);
  const std::pmr::vector<BlockTask> tasks = plan_tasks(p, g, false, arena);
  const Call call{p, in, kernels, g, Direction::backward, {p, nullptr, from.kept_scores}};
  SharedSums sums(call, grad, tasks, arena);
  kernels.for_each_learned([](const Learned& part, size_t) { part.zero_gradients(); });
  if (kernels.column) kernels.column->begin_backward(from, grad, arena);
  Backward loop(p, from, grad, sums);
  const int64_t dim = p.shape.dim, value_dim = p.shape.value_dim;
  const Touched touched[] = {{from.d_out, value_dim, true},
                             {from.out, value_dim, true},
                             {grad.d_q, dim, true},
                             {grad.d_k, dim, false},
                             {grad.d_v, value_dim, false}};
  const Ran ran = run_tasks({call, tasks, touched, sums.independent(), *memory},
                            [&](Block& block, size_t t) { loop.run(block, t); });
  if (kernels.column) kernels.column->finish_backward();
  return status_of(ran);
}

}  // namespace

Status backward(const Problem& p, const Inputs& in, const BackwardInputs& from, const Gradients& grad) {
  return without_throwing([&] { return run_backward(p, in, from, grad); });
}

}  // namespace heed::kernels
