// T2 static: one query for the whole output, u = the first and last state of the memory concatenated; one context for
// all steps.
#include <fmt/format.h>

#include "heed/attend/attention.h"
#include "heed/base/error.h"
#include "heed/tensor/op/arrange.h"

namespace heed::attend {

namespace {

/// [B, 2 * width]: the first and the last row of each sequence. A sequence without rows sees no key, so any row will
/// do.
Tensor ends(const Memory& memory) {
  const Offsets& o = memory.rows.offsets;
  Tape& tape = memory.rows.rows.tape();
  if (o.total() == 0) return tape.filled(o.count, 2 * memory.rows.rows.cols(), 0.0f);
  int64_t* rows = tape.keep<int64_t>(2 * o.count);
  for (int64_t b = 0; b < o.count; ++b) {
    const int64_t length = memory.lengths ? memory.lengths[b] : o.length(b);
    rows[b] = length > 0 ? o.at[b] : 0;
    rows[o.count + b] = length > 0 ? o.at[b] + length - 1 : 0;
  }
  const auto count = static_cast<size_t>(o.count);
  return concat_columns(
      {gather_rows(memory.rows.rows, {rows, count}), gather_rows(memory.rows.rows, {rows + count, count})});
}

class Static final : public Time {
 public:
  Attended attend(const Attention& attention, const AttendArguments& asked) const override {
    const PreparedMemory& prepared = asked.prepared;
    expect(static_cast<bool>(prepared.offsets),
           "static: the query is made from the first and last row of the memory, so the memory must not grow");
    expect(!prepared.memory.stacked,
           "static: the query is made from whole rows of the memory, so heads must be side by side, not stacked");
    const Queries& steps_in = asked.queries;
    expect(!steps_in.mask && !steps_in.bias && !steps_in.lengths && !steps_in.bottom_right &&
               steps_in.window_left < 0 && steps_in.window_right < 0,
           "static: it makes its own query; do not pass a mask, a bias, lengths or a window for other queries");
    Tape& tape = prepared.values.tape();
    Attended a;
    const Tensor context = asked.state.context(tape), seen = asked.state.weights(tape);
    if (context && (!asked.request.weights || seen)) {  // a later step: nothing to compute
      a.state = asked.state;
      a.context = context;
      a.weights = {prepared.batch, attention.options().heads, 1, prepared.offsets.longest(),
                   seen ? seen.data() : nullptr};
    } else {
      const Queries one{{ends(prepared.memory), tape.even_offsets(prepared.batch, 1)}};
      const State start;  // the one query is at position 0, whatever the step
      a = attention.run({one, prepared, start, asked.request});
      a.state = asked.state;
      const Weights& w = a.weights;
      a.state.set_context(a.context, w.data ? tape.input(w.data, w.batch * w.heads, w.keys) : Tensor());
    }
    const Offsets& steps = asked.queries.rows.offsets;
    if (!steps) return a;
    a.state.set_step(a.state.step() + steps.longest());
    a.context = repeat_rows(a.context, steps);
    if (asked.request.weights) a.weights = repeat(a.weights, steps, tape);
    return a;
  }

 private:
  static Weights repeat(const Weights& one, const Offsets& steps, Tape& tape) {
    Weights w = one;
    w.queries = steps.longest();
    w.data = tape.keep<float>(w.batch * w.heads * w.queries * w.keys);
    for (int64_t b = 0; b < w.batch; ++b)
      for (int64_t h = 0; h < w.heads; ++h)
        for (int64_t i = 0; i < w.queries; ++i)
          for (int64_t j = 0; j < w.keys; ++j) w.at(b, h, i)[j] = i < steps.length(b) ? one.at(b, h, 0)[j] : 0.0f;
    return w;
  }
};

std::unique_ptr<Time> make_static(const Scope&, const Options&) { return std::make_unique<Static>(); }

std::string refuse_static(const Options& o, const Parts& parts) {
  if (!parts.input->own_queries) return "";
  return fmt::format("static makes its query from the first and last row of the memory, so input cannot be \"{}\"",
                     o.input);
}
}  // namespace

const Entry static_query_entry = {
    .id = "T2",
    .name = "static",
    .part = Part::time,
    .title = "one query for the whole output",
    .formula = "u = [h_1; h_S],  c = attend(u, memory) for every step",
    .paper =
        "Hermann et al. 2015, Teaching Machines to Read and Comprehend: the Attentive Reader has one query, the two "
        "ends of a bidirectional network concatenated",
    .time = "one query instead of n",
    .memory = "nothing",
    .combines =
        "scores that accept a query of twice the key's width (general, additive, mlp, projected), or any with "
        "projections",
    .page =
        "The two ends of the encoder form one query, and every step of the target gets the same context: a better "
        "summary of the source than its last state, at the cost of one query.\n\n"
        "The query is twice as wide as a key, so the default score is general.",
    .preset =
        [](Options& o) {
          if (o.score == scaled_dot_entry.name && !o.project) o.score = general_entry.name;
        },
    .own_queries = true,
    .instead = {.in_encoder = &dynamic_entry, .in_decoder = &dynamic_entry},
    .keys_in_query = 2,
    .refuses = refuse_static,
    .make_time = make_static,
};

}  // namespace heed::attend
