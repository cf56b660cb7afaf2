#include "heed/tensor/op/recurrent_run.h"

#include <algorithm>

#include "heed/tensor/gradient.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/profile.h"
#include "heed/tensor/weight_product.h"

namespace heed {

namespace {

constexpr int64_t kCellCost = 8;  // an element of a cell costs this many elements of plain work

void check(const char* name, const RecurrentRun& run) {
  expect_there(name, "x", run.x);
  expect_there(name, "the input weight", run.w.input);
  expect_there(name, "the state weight", run.w.state);
  const int64_t h = run.hidden, wide = run.gates * h;
  expect(run.w.input.cols() == run.x.cols(), "{}: x has {} columns, the input weight [{}, {}] needs {}", name,
         run.x.cols(), run.w.input.rows(), run.w.input.cols(), run.w.input.cols());
  expect_shape(name, "the state weight", run.w.state, wide, h);
  expect_shape(name, "the input weight", run.w.input, wide, run.x.cols());
  if (run.w.input_bias) expect_shape(name, "the input bias", run.w.input_bias, 1, wide);
  if (run.w.state_bias) expect_shape(name, "the state bias", run.w.state_bias, 1, wide);
  expect_offsets(name, run.offsets, run.x.rows());
  if (run.start.h) expect_shape(name, "the state h", run.start.h, run.sequences(), h);
  if (run.start.c) expect_shape(name, "the state c", run.start.c, run.sequences(), h);
}

/// All sequences that have this step.
void run_cell(RecurrentCell cell, const RecurrentStep& step) {
  const Timed timed(Work::cell);
  for_pieces(step.run.active[step.t], step.run.hidden * kCellCost,
             [&](int64_t begin, int64_t end) { cell(step, begin, end); });
}

/// Places by decreasing length; equal lengths stay in order.
void plan_steps(RecurrentRun& run, Tape& tape) {
  const int64_t sequences = run.sequences();
  run.steps = run.offsets.longest();
  int64_t* active = tape.keep<int64_t>(run.steps + 1);
  int64_t* order = tape.keep<int64_t>(sequences);
  int64_t* next = tape.arena().take_array<int64_t>(run.steps + 1);  // of each length: the next free place
  std::fill_n(active, run.steps + 1, 0);
  for (int64_t b = 0; b < sequences; ++b) ++active[run.offsets.length(b)];
  int64_t longer = 0;
  for (int64_t length = run.steps; length >= 0; --length) {
    const int64_t count = active[length];
    active[length] = next[length] = longer;  // as many have a step of this number
    longer += count;
  }
  for (int64_t b = 0; b < sequences; ++b) order[next[run.offsets.length(b)]++] = b;
  tape.arena().give(next);
  run.active = active;
  run.order = order;
}

/// places[p] = of_sequences[order[p]], or 0 where there is nothing.
float* take_by_place(const RecurrentRun& run, const float* of_sequences) {
  const int64_t h = run.hidden;
  float* places = run.x.tape().arena().take_array<float>(run.sequences() * h);
  if (!of_sequences)
    std::fill_n(places, run.sequences() * h, 0.0f);
  else
    for (int64_t p = 0; p < run.sequences(); ++p) std::copy_n(of_sequences + run.order[p] * h, h, places + p * h);
  return places;
}

/// sink[order[p]] (+)= places[p]
void give_by_sequence(const RecurrentRun& run, const float* places, GradientSink sink) {
  if (!sink) return;
  const int64_t h = run.hidden;
  for (int64_t p = 0; p < run.sequences(); ++p)
    for (int64_t j = 0; j < h; ++j) {
      float& at = sink.data[run.order[p] * h + j];
      at = places[p * h + j] + (sink.fresh ? 0.0f : at);
    }
}

Tensor make_last(const RecurrentRun& run, bool needs_gradient, const float* places) {
  Tensor last = run.x.tape().make(run.sequences(), run.hidden, needs_gradient);
  give_by_sequence(run, places, {last.data(), true});
  return last;
}

/// The state before each token: the result of the row before it, or the start.
float* take_states_before(const RecurrentRun& run) {
  const int64_t h = run.hidden;
  float* before = run.x.tape().arena().take_array<float>(run.tokens() * h);
  for_pieces(run.sequences(), run.tokens() * h / std::max<int64_t>(1, run.sequences()),
             [&](int64_t begin, int64_t end) {
               for (int64_t b = begin; b < end; ++b) {
                 const int64_t first = run.offsets.at[b], length = run.offsets.length(b);
                 if (length == 0) continue;
                 const int64_t later = run.backwards ? first : first + 1;  // where the rows with one before them begin
                 const int64_t origin = run.backwards ? first + length - 1 : first;
                 std::copy_n(run.rows.row(run.backwards ? first + 1 : first), (length - 1) * h, before + later * h);
                 if (run.start.h)
                   std::copy_n(run.start.h.row(b), h, before + origin * h);
                 else
                   std::fill_n(before + origin * h, h, 0.0f);
               }
             });
  return before;
}

/// d_W [out, width of `right`] (+)= left^T right over all tokens and d_b (+)= sum of left, for some rows of a weight
/// and its bias. Either may be null.
void layer_gradient(ConstMatrix left, ConstMatrix right, GradientSink d_w, GradientSink d_b) {
  multiply({.rows = left.rows,
            .left = left.data,
            .left_cols = left.cols,
            .right = right.data,
            .right_cols = right.cols,
            .sum = d_w,
            .left_sum = d_b,
            .left_stride = left.stride,
            .right_stride = right.stride});
}

void input_gradients(const RecurrentRun& run) {
  const int64_t wide = run.gates * run.hidden, in = run.x.cols();
  const ConstMatrix d_gate{run.gate, run.tokens(), wide};
  if (const GradientSink d_x = run.x.sink())
    WeightProduct{run.w.input,
                  WeightOrder::in_out}({.rows = run.tokens(), .x = run.gate, .y = d_x.data, .add = !d_x.fresh});
  layer_gradient(d_gate, {run.x.data(), run.tokens(), in}, run.w.input.sink(), run.w.input_bias.sink());
}

/// The gradient inside the gates is the same for the input and the state part; only the new gate of a GRU has a
/// separate one, in `extra`.
void state_gradients(const RecurrentRun& run, const float* h_before) {
  const int64_t h = run.hidden, wide = run.gates * h;
  const int64_t shared = run.gates == 3 ? 2 * h : wide;
  const ConstMatrix before{h_before, run.tokens(), h};
  const GradientSink d_w = run.w.state.sink(), d_b = run.w.state_bias.sink();
  layer_gradient({run.gate, run.tokens(), shared, wide}, before, d_w, d_b);
  if (shared == wide) return;
  const auto rest = [](GradientSink sink, int64_t numbers) {
    return GradientSink{sink ? sink.data + numbers : nullptr, sink.fresh};
  };
  layer_gradient({run.extra, run.tokens(), h}, before, rest(d_w, shared * h), rest(d_b, shared));
}

/// The results, and what the backward needs.
RecurrentRun run_forward(const char* name, RecurrentRun run, RecurrentCell cell) {
  run.hidden = run.w.state ? run.w.state.cols() : 0;
  check(name, run);
  Tape& tape = run.x.tape();
  TapeArena& arena = tape.arena();
  plan_steps(run, tape);
  const int64_t h = run.hidden, wide = run.gates * h, tokens = run.tokens();

  const bool needs = run.x.needs_gradient() || run.w.input.needs_gradient() || run.w.state.needs_gradient() ||
                     run.w.input_bias.needs_gradient() || run.w.state_bias.needs_gradient() ||
                     run.start.h.needs_gradient() || run.start.c.needs_gradient();
  run.rows = tape.make(tokens, h, needs);
  run.gate = tape.keep<float>(tokens * wide);
  run.extra = tape.keep<float>(tokens * h);
  run.state_bias = run.w.state_bias ? run.w.state_bias.data() : tape.filled(1, wide, 0.0f).data();

  const WeightProduct input_product(run.w.input), state_product(run.w.state);
  input_product(
      {.rows = tokens, .x = run.x.data(), .bias = run.w.input_bias ? run.w.input_bias.data() : nullptr, .y = run.gate});

  float* state = take_by_place(run, run.start.h ? run.start.h.data() : nullptr);
  float* c = run.gates == 4 ? take_by_place(run, run.start.c ? run.start.c.data() : nullptr) : nullptr;
  float* inner = arena.take_array<float>((run.steps > 0 ? run.active[0] : 0) * wide);
  for (int64_t t = 0; t < run.steps; ++t) {
    state_product({.rows = run.active[t], .x = state, .y = inner});
    const RecurrentStep step{.run = run, .t = t, .inner = inner, .h = state, .c = c};
    run_cell(cell, step);
  }
  if (!run.one_step) run.last.h = make_last(run, needs, state);
  if (c) run.last.c = make_last(run, needs, c);
  arena.give(inner);
  arena.give(c);
  arena.give(state);
  return run;
}

/// All gradients.
void run_backward(const RecurrentRun& run, const RecurrentKind& kind) {
  TapeArena& arena = run.x.tape().arena();
  const int64_t h = run.hidden, wide = run.gates * h;
  float* d_state = take_by_place(run, run.last.h.gradient());
  float* d_c = run.gates == 4 ? take_by_place(run, run.last.c.gradient()) : nullptr;
  float* d_inner = arena.take_array<float>((run.steps > 0 ? run.active[0] : 0) * wide);
  float* h_before = take_states_before(run);
  const WeightProduct back(run.w.state, WeightOrder::in_out);
  for (int64_t t = run.steps; t-- > 0;) {
    const RecurrentStep step{.run = run,
                             .t = t,
                             .inner = d_inner,
                             .h = d_state,
                             .c = d_c,
                             .d_rows = run.rows.gradient(),
                             .h_before = h_before};
    run_cell(kind.backward, step);
    if (t == 0 && !run.start.h.needs_gradient()) break;
    back({.rows = run.active[t], .x = d_inner, .y = d_state, .add = kind.adds});
  }
  arena.give(d_inner);
  give_by_sequence(run, d_state, run.start.h.sink());
  if (d_c) give_by_sequence(run, d_c, run.start.c.sink());
  arena.give(d_c);
  arena.give(d_state);
  input_gradients(run);
  state_gradients(run, h_before);
  arena.give(h_before);
}

}  // namespace

RecurrentResult run_recurrent(const char* name, const RecurrentKind& kind, RecurrentRun run) {
  run.gates = kind.gates;
  run = run_forward(name, run, kind.forward);
  run.x.tape().on_backward([run, kind] { run_backward(run, kind); });
  return {run.rows, run.last};
}

RecurrentState step_recurrent(const char* name, const RecurrentKind& kind, RecurrentRun run) {
  expect_there(name, "x", run.x);
  expect_there(name, "the state h", run.start.h);
  if (kind.gates == 4) expect_there(name, "the state c", run.start.c);
  run.offsets = run.x.tape().even_offsets(run.x.rows(), 1);
  run.one_step = true;
  const RecurrentResult next = run_recurrent(name, kind, run);
  return {next.rows, next.state.c};
}

}  // namespace heed
