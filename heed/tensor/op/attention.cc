#include "heed/tensor/op/attention.h"

#include <algorithm>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/kernels/interrupt.h"
#include "heed/tensor/gradient.h"
#include "heed/tensor/op/attention_gradients.h"
#include "heed/tensor/profile.h"
#include "heed/tensor/tape.h"

namespace heed {

struct AttentionSaved {
  AttentionCall call;
  kernels::Outputs outputs;
  AttentionResult result;
  const float* first_column_lse;  // a copy of the state before the first query
};

namespace {

// The kernels never throw or print; their refusals become exceptions here.
void demand(const kernels::Status& status) {
  if (kernels::interrupted()) throw Interrupted();
  if (status.out_of_memory())
    throw NotEnoughMemory("not enough memory: attention; use fewer threads, smaller batches or shorter sequences");
  if (!status) throw Error("attention: " + status.message());
}

/// A call as the kernels read it: sizes, pointers and strides.
class Call {
 public:
  explicit Call(AttentionCall& c) : c_(c), p_(c.problem) {}

  void fill_sizes() {
    expect(static_cast<bool>(c_.v.tensor) && static_cast<bool>(c_.query_offsets),
           "attention: values and query offsets are required");
    auto& s = p_.shape;
    if (s.kv_heads == 0) s.kv_heads = s.heads;
    s.batch = c_.query_offsets.count;
    if (c_.stacked) {
      expect(static_cast<bool>(c_.key_offsets), "attention: stacked heads need a memory of fixed length");
      s.queries = s.batch > 0 ? c_.query_offsets.length(0) : 0;
      s.keys = s.batch > 0 ? c_.key_offsets.length(0) : 0;
    } else {
      p_.ragged.query_offsets = c_.query_offsets.at;
      p_.ragged.key_offsets = c_.key_offsets.at;
      s.keys = c_.key_count;
    }
    const int64_t columns_of = c_.stacked ? 1 : s.heads, key_columns_of = c_.stacked ? 1 : s.kv_heads;
    check_columns("v", c_.v, key_columns_of);
    s.value_dim = c_.v.width / key_columns_of;
    expect(!c_.key_offsets || c_.key_offsets.count == s.batch,
           "attention: {} sequences of queries, but {} sequences of keys", s.batch, c_.key_offsets.count);
    check_rows("v", c_.v, key_rows() * (c_.stacked ? s.kv_heads : 1));
    if (p_.score.kind == kernels::ScoreKind::none) return;
    check_columns("q", c_.q, columns_of);
    check_columns("k", c_.k, key_columns_of);
    s.dim = c_.q.width / columns_of;
    expect(c_.k.width / key_columns_of == s.dim, "attention: a head of q has width {}, a head of k {}", s.dim,
           c_.k.width / key_columns_of);
    check_rows("q", c_.q, c_.query_offsets.total() * (c_.stacked ? s.heads : 1));
    check_rows("k", c_.k, key_rows() * (c_.stacked ? s.kv_heads : 1));
  }

  void fill_pointers(Tape& tape) {
    p_.score.v = value(c_.score_v);
    p_.score.v_head_stride = c_.score_v && c_.score_v.rows() > 1 ? c_.score_v.cols() : 0;
    if (!c_.layers.empty()) {
      auto* layers = tape.keep<kernels::MlpLayer>(static_cast<int64_t>(c_.layers.size()));
      for (size_t i = 0; i < c_.layers.size(); ++i) {
        const auto& l = c_.layers[i];
        layers[i] = {l.weight.data(), value(l.bias), l.weight.cols(), l.weight.rows()};
      }
      p_.score.layers = layers;
      p_.score.layer_count = static_cast<int64_t>(c_.layers.size());
    }
    p_.bias.tensor = value(c_.bias);
    p_.bias.alibi_slopes = value(c_.alibi_slopes);
    p_.bias.relative = value(c_.relative);
    if (c_.relative) {
      p_.bias.relative_reach = (c_.relative.cols() - 1) / 2;
      p_.bias.relative_head_stride = c_.relative.rows() > 1 ? c_.relative.cols() : 0;
    }
    p_.normalise.sink = value(c_.sink);
    if (c_.centre) p_.region.centre = c_.centre.data();
  }

  HeadLayout queries() const { return {p_.shape.heads, c_.stacked ? p_.shape.queries : 0, c_.stacked}; }
  HeadLayout keys() const { return {p_.shape.kv_heads, c_.stacked ? p_.shape.keys : c_.key_capacity, c_.stacked}; }

  int64_t key_rows() const {
    return c_.key_offsets ? c_.key_offsets.total() : c_.query_offsets.count * c_.key_capacity;
  }

  kernels::Inputs inputs() const {
    kernels::Inputs in;
    if (p_.score.kind != kernels::ScoreKind::none) {
      in.q = queries().view<const float>(c_.q.tensor.data(), c_.q);
      in.k = keys().view<const float>(c_.k.tensor.data(), c_.k);
    }
    in.v = keys().view<const float>(c_.v.tensor.data(), c_.v);
    return in;
  }

 private:
  static const float* value(const Tensor& t) { return t ? t.data() : nullptr; }

  static void check_columns(const char* name, const Slice& s, int64_t heads) {
    expect(static_cast<bool>(s.tensor), "attention: {} is missing", name);
    expect(s.first >= 0 && s.first + s.width <= s.tensor.cols(), "attention: columns {} to {} are outside {} [{}, {}]",
           s.first, s.first + s.width, name, s.tensor.rows(), s.tensor.cols());
    expect(heads > 0 && s.width % heads == 0, "attention: {} has {} columns, which cannot be split into {} heads", name,
           s.width, heads);
  }
  static void check_rows(const char* name, const Slice& s, int64_t rows) {
    expect(s.tensor.rows() == rows, "attention: {} has {} rows, but the offsets cover {}", name, s.tensor.rows(), rows);
  }

  AttentionCall& c_;
  kernels::Problem& p_;
};

/// What the forward kept and what arrived at its results. `d_out`: of the context, [query rows, H * Dv].
kernels::BackwardInputs backward_inputs(const AttentionSaved& saved, const HeadLayout& queries, const float* d_out) {
  const AttentionResult& result = saved.result;
  const Slice out(result.out);
  const auto arrived = [](const Tensor& t) { return t ? t.gradient() : nullptr; };
  kernels::BackwardInputs from;
  from.out = queries.view<const float>(result.out.data(), out);
  from.saved = saved.outputs.saved;
  from.forced_saved = saved.outputs.forced_saved;
  from.kept_scores = saved.outputs.kept_scores;
  from.choice = saved.outputs.choice;
  from.entropy = saved.outputs.entropy;
  from.guide_cost = saved.outputs.guide_cost;
  from.d_out = queries.view(d_out, out);
  from.d_lse = arrived(result.lse);
  from.d_log_prob = arrived(result.log_prob);
  from.d_entropy = arrived(result.entropy);
  from.d_guide_cost = arrived(result.guide_cost);
  from.d_column_lse = arrived(result.column_lse);
  return from;
}

/// Where the gradient of every learned part goes. Null: none is needed.
class CallGradients {
 public:
  explicit CallGradients(Tape& tape) : tape_(tape), slices_(tape), small_(tape) {}

  kernels::Gradients take(AttentionCall& call) {
    const Call filled(call);
    kernels::Gradients grad;
    if (call.problem.score.kind != kernels::ScoreKind::none) {
      grad.d_q = slices_.take(call.q, filled.queries());
      grad.d_k = slices_.take(call.k, filled.keys());
    }
    grad.d_v = slices_.take(call.v, filled.keys());
    grad.d_score_v = small_.take(call.score_v);
    if (!call.layers.empty()) {
      auto* layers = tape_.keep<kernels::MlpLayerGradient>(std::ssize(call.layers));
      for (size_t i = 0; i < call.layers.size(); ++i)
        layers[i] = {small_.take(call.layers[i].weight), small_.take(call.layers[i].bias)};
      grad.d_layers = layers;
    }
    grad.d_bias_tensor = small_.take_cleared(call.bias);
    grad.d_alibi_slopes = small_.take(call.alibi_slopes);
    grad.d_relative = small_.take(call.relative);
    grad.d_sink = small_.take(call.sink);
    grad.d_centre = small_.take(call.centre);
    grad.d_column_lse = small_.take(call.column_lse);
    return grad;
  }

  void finish() {
    slices_.finish();
    small_.finish();
  }

 private:
  Tape& tape_;
  SliceGradients slices_;
  SmallGradients small_;
};

/// A gradient of the weights themselves: as a guide G = d_weights, whose cost sum_j A_ij G_ij has the gradient 1. It
/// was not known in the forward, and the backward only needs the cost. `costs`: two numbers for each row.
void guide_to(const Tensor& weights, const float* d_weights, AttentionCall& call, kernels::BackwardInputs& from,
              float* costs) {
  const int64_t rows = weights.rows(), keys = weights.cols();
  float* ones = costs + rows;
  for (int64_t r = 0; r < rows; ++r) {
    double cost = 0.0;
    for (int64_t j = 0; j < keys; ++j) cost += double{weights.row(r)[j]} * d_weights[r * keys + j];
    costs[r] = static_cast<float>(cost);
    ones[r] = 1.0f;
  }
  kernels::Guide& guide = call.problem.guide;
  guide.tensor = d_weights;
  guide.head = rows / call.problem.shape.heads * keys;
  guide.query = keys;
  guide.key = 1;
  guide.packed = true;
  from.guide_cost = costs;
  from.d_guide_cost = ones;
}

void backward(const AttentionSaved& saved, Tape& tape) {
  const Timed timed(Work::attention);
  TapeArena& arena = tape.arena();
  AttentionCall call = saved.call;
  const AttentionResult& result = saved.result;
  float* zeros = nullptr;
  const float* d_out = result.out.gradient();
  if (!d_out) {  // only the cost, the entropy or the log-probability was used
    zeros = arena.take_array<float>(result.out.size());
    std::fill_n(zeros, result.out.size(), 0.0f);
    d_out = zeros;
  }
  float* column = nullptr;
  if (call.problem.forced_forward.on) {  // the backward starts from the same first state, and overwrites it
    const int64_t size = result.column_lse.size();
    column = arena.take_array<float>(size);
    std::copy_n(saved.first_column_lse, size, column);
    call.problem.forced_forward.column_lse = column;
  }
  CallGradients gradients(tape);
  const kernels::Gradients grad = gradients.take(call);
  const Call filled(call);
  kernels::BackwardInputs from = backward_inputs(saved, filled.queries(), d_out);
  float* costs = nullptr;
  if (const float* d_weights = result.weights ? result.weights.gradient() : nullptr) {
    costs = arena.take_array<float>(2 * result.weights.rows());
    guide_to(result.weights, d_weights, call, from, costs);
  }
  demand(kernels::backward(call.problem, filled.inputs(), from, grad));
  gradients.finish();
  arena.give(costs);
  arena.give(column);
  arena.give(zeros);
}

bool needs_gradient(const AttentionCall& call) {
  bool learned = false;
  for (const Tensor& t : {call.q.tensor, call.k.tensor, call.v.tensor, call.score_v, call.bias, call.alibi_slopes,
                          call.relative, call.sink, call.centre, call.column_lse})
    learned |= t.needs_gradient();
  for (const auto& l : call.layers) learned |= l.weight.needs_gradient() || l.bias.needs_gradient();
  return learned;
}

/// The requested tensors, and where the kernels write them.
void make_results(AttentionSaved& saved, const Call& filled, bool learned, Tape& tape) {
  const AttentionCall& call = saved.call;
  const kernels::Problem& p = call.problem;
  AttentionResult& r = saved.result;
  kernels::Outputs& o = saved.outputs;
  const int64_t heads = p.shape.heads, rows = call.query_offsets.total();
  r.out = call.stacked ? tape.make(rows * heads, p.shape.value_dim, learned)
                       : tape.make(rows, heads * p.shape.value_dim, learned);
  o.out = filled.queries().view(r.out.data(), Slice(r.out));
  o.saved = tape.keep<float>(2 * heads * rows);
  const auto of_rows = [&](bool want, Tensor& t, float*& to) {
    if (!want) return;
    t = call.stacked ? tape.make(p.shape.batch * heads, p.shape.queries, learned) : tape.make(heads, rows, learned);
    to = t.data();
  };
  of_rows(call.want_lse, r.lse, o.lse);
  of_rows(call.want_log_prob, r.log_prob, o.log_prob);
  of_rows(call.want_entropy, r.entropy, o.entropy);
  of_rows(call.want_guide_cost, r.guide_cost, o.guide_cost);
  const auto kind = p.normalise.kind;
  if (kind == kernels::Normaliser::argmax || kind == kernels::Normaliser::sampled)
    o.choice = tape.keep<int32_t>(heads * rows);
}

/// Forced-forward: the loop continues from the given state, in a new tensor.
void start_columns(AttentionSaved& saved, const Call& filled, bool learned, Tape& tape) {
  AttentionCall& call = saved.call;
  Tensor& state = saved.result.column_lse;
  state = tape.make(call.problem.shape.heads, filled.key_rows(), learned);
  const int64_t size = state.size();
  if (call.column_lse) {
    expect(call.column_lse.size() == size, "attention: column_lse has {} numbers, expected {}", call.column_lse.size(),
           size);
    saved.first_column_lse = call.column_lse.data();
  } else {
    float* nothing_seen = tape.keep<float>(size);
    std::fill_n(nothing_seen, size, -std::numeric_limits<float>::infinity());
    saved.first_column_lse = nothing_seen;
  }
  std::copy_n(saved.first_column_lse, size, state.data());
  call.problem.forced_forward.column_lse = state.data();
  demand(kernels::check(call.problem, filled.inputs(), saved.outputs));
  saved.outputs.forced_saved = tape.keep<float>(kernels::forced_saved_floats(call.problem));
}

/// The scores of `wanted` alone, without what weights and earlier steps add, and a value per key: its position.
AttentionCall of_positions(const AttentionCall& wanted) {
  AttentionCall call = wanted;
  call.around_best = -1;
  call.straight_through = call.want_lse = call.want_log_prob = call.want_entropy = call.want_guide_cost = false;
  call.sink = call.column_lse = {};
  kernels::Problem& p = call.problem;
  p.normalise = {};
  p.dropout = {};
  p.guide = {};
  p.forced_forward = {};
  p.region.centre_sigma = 0.0f;
  Tape& tape = wanted.v.tensor.tape();
  const int64_t rows = wanted.v.tensor.rows();
  const int64_t heads = wanted.stacked ? 1 : p.shape.kv_heads > 0 ? p.shape.kv_heads : p.shape.heads;
  float* at = tape.keep<float>(rows * heads);
  const auto number = [&](int64_t first, int64_t count) {
    for (int64_t j = 0; j < count; ++j) std::fill_n(at + (first + j) * heads, heads, static_cast<float>(j));
  };
  const int64_t stacks = wanted.stacked && wanted.key_offsets.total() > 0 ? rows / wanted.key_offsets.total() : 1;
  if (!wanted.key_offsets) {
    for (int64_t first = 0; first < rows; first += wanted.key_capacity) number(first, wanted.key_capacity);
  } else if (wanted.stacked) {
    const int64_t length = wanted.key_offsets.count > 0 ? wanted.key_offsets.length(0) : 0;
    for (int64_t s = 0; s < stacks * wanted.key_offsets.count; ++s) number(s * length, length);
  } else {
    for (int64_t b = 0; b < wanted.key_offsets.count; ++b)
      number(wanted.key_offsets.at[b], wanted.key_offsets.length(b));
  }
  call.v = tape.input(at, rows, heads);
  return call;
}

/// Of rows: the best key of each query; of one that sees none a place that is far from all.
Tensor best_positions(const AttentionCall& wanted, bool learned) {
  constexpr float kNowhere = -1e9f;
  AttentionCall call = of_positions(wanted);
  call.problem.normalise.kind = kernels::Normaliser::argmax;
  Tape& tape = wanted.v.tensor.tape();
  Call filled(call);
  filled.fill_sizes();
  filled.fill_pointers(tape);
  const kernels::Problem& p = call.problem;
  const int64_t heads = p.shape.heads, rows = call.query_offsets.total();
  const Tensor centre =
      call.stacked ? tape.make(p.shape.batch * heads, p.shape.queries, learned) : tape.make(heads, rows, learned);
  Tensor out = call.stacked ? tape.make(rows * heads, 1, false) : tape.make(rows, heads, false);
  const std::span<int32_t> choice(tape.keep<int32_t>(heads * rows), static_cast<size_t>(heads * rows));
  demand(kernels::forward(p, filled.inputs(),
                          {.out = filled.queries().view(out.data(), Slice(out)), .choice = choice.data()}));
  for (size_t r = 0; r < choice.size(); ++r)
    centre.data()[r] = choice[r] >= 0 ? static_cast<float>(choice[r]) : kNowhere;
  return centre;
}

/// The two passes of around_best.
AttentionResult attention_around_best(const AttentionCall& wanted) {
  expect(!wanted.centre, "attention: around_best and a centre of its own cannot be combined");
  AttentionCall call = wanted;
  call.around_best = -1;
  call.straight_through = false;
  call.problem.region.centre_half_width = static_cast<float>(wanted.around_best);
  Tensor expected;
  if (wanted.straight_through) expected = attention(of_positions(wanted)).out;  // sum_j softmax(e)_j j
  call.centre = best_positions(wanted, expected.needs_gradient());
  if (expected)
    expected.tape().on_backward([centre = call.centre, expected, stacked = wanted.stacked] {
      // [H, rows] -> [rows, H]; stacked: in the same order
      add_gradient(expected.sink(), expected.size(), [=, d = centre.gradient()](int64_t n) {
        return d[stacked ? n : n % expected.cols() * expected.rows() + n / expected.cols()];
      });
    });
  return attention(call);
}

}  // namespace

namespace {

void fill_weights(const AttentionResult& result) {
  const Tensor& all = result.weights;
  const Offsets& queries = result.saved->call.query_offsets;
  std::fill_n(all.data(), all.size(), 0.0f);
  kernels::WeightsRequest request;
  request.row = [&](int64_t b, int64_t h, int64_t i, const float* weights, int64_t keys) {
    if (i < queries.length(b)) std::copy_n(weights, keys, all.row(h * queries.total() + queries.at[b] + i));
  };
  attention_weights(result, request);
}

}  // namespace

AttentionResult attention(const AttentionCall& wanted) {
  if (wanted.around_best >= 0) return attention_around_best(wanted);
  const Timed timed(Work::attention);
  Tape& tape = wanted.v.tensor.tape();
  auto* saved = new (tape.keep<AttentionSaved>(1)) AttentionSaved{wanted, {}, {}, nullptr};
  AttentionCall& call = saved->call;
  expect(call.layers.size() <= 8, "attention: {} hidden layers; at most 8", call.layers.size());
  Call filled(call);
  filled.fill_sizes();
  filled.fill_pointers(tape);
  const bool learned = needs_gradient(call);
  make_results(*saved, filled, learned, tape);
  if (call.problem.forced_forward.on) start_columns(*saved, filled, learned, tape);
  if (call.want_weights) {
    expect(!call.stacked && !call.problem.guide.on(),
           "attention: its weights have a gradient only for heads side by side, and without a guide");
    const int64_t keys = call.key_offsets ? call.key_offsets.longest() : call.key_count;
    saved->result.weights = tape.make(call.problem.shape.heads * call.query_offsets.total(), keys, learned);
  }
  if (const int64_t scores = learned ? kernels::kept_scores_floats(call.problem) : 0)
    saved->outputs.kept_scores = tape.keep<float>(scores);
  demand(kernels::forward(call.problem, filled.inputs(), saved->outputs));
  saved->result.saved = saved;
  if (call.want_weights) fill_weights(saved->result);
  tape.on_backward([saved, t = &tape] { backward(*saved, *t); });
  return saved->result;
}

AttentionShape attention_shape(const AttentionResult& result) {
  const AttentionCall& c = result.saved->call;
  return {c.problem.shape.batch, c.problem.shape.heads, c.query_offsets.longest(),
          c.key_offsets ? c.key_offsets.longest() : c.key_count};
}

void attention_weights(const AttentionResult& result, const kernels::WeightsRequest& request) {
  AttentionCall call = result.saved->call;
  if (call.problem.forced_forward.on)
    call.problem.forced_forward.column_lse = const_cast<float*>(result.saved->first_column_lse);
  demand(kernels::weights(call.problem, Call(call).inputs(), result.saved->outputs, request));
}

}  // namespace heed
