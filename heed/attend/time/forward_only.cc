// T4, hard form: the position may only move forward.   Compare Raffel et al. 2017, Online and Linear-Time Attention by
// Enforcing Monotonic Alignments.
//   step t sees the keys j >= p_{t-1},  p_t = argmax_j a_tj,  p_t = p_{t-1} where no key has any weight
// Where a step may look depends on where the previous one looked, so the steps run one after another, even if all
// queries are given at once.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "heed/attend/attention.h"
#include "heed/attend/rows_by_step.h"
#include "heed/attend/weights.h"
#include "heed/base/error.h"

namespace heed::attend {

namespace {

/// All keys from a given one, per sequence and head.
struct From {
  const int32_t* first;  // [B * H]
  int64_t heads;

  std::pair<int64_t, int64_t> keys(int64_t b, int64_t h, int64_t, int64_t count) const {
    return {std::min<int64_t>(first[b * heads + h], count), count};
  }
};

class ForwardOnly final : public Time {
 public:
  explicit ForwardOnly(const Options& options) : heads_(options.heads) {}

  Attended attend(const Attention& attention, const AttendArguments& asked) const override {
    expect(!asked.prepared.memory.stacked, "forward_only: heads must be side by side, not stacked");
    const Offsets& all = asked.queries.rows.offsets;
    expect(static_cast<bool>(all), "forward_only: the queries need offsets");
    expect(
        !asked.queries.bottom_right,
        "forward_only: queries continue where earlier steps stopped, not at the end of the keys (align bottom_right)");
    State state = asked.state;
    if (state.numbers().empty())
      state.set_numbers(std::vector<int32_t>(static_cast<size_t>(asked.prepared.batch * heads_), 0));
    if (all.longest() <= 1) return step(attention, asked, state);

    return attend_by_step({asked.queries, asked.prepared, state, asked.request}, heads_,
                          [&](const AttendArguments& one) { return step(attention, one, one.state); });
  }
  void keep(const AttentionResult& result, State& next) const override {
    Tape& tape = result.out.tape();
    const AttentionShape shape = attention_shape(result);
    const int32_t* best = best_keys(result, tape);
    std::vector<int32_t> position(next.numbers().begin(), next.numbers().end());
    for (size_t n = 0; n < position.size() && shape.longest_query > 0; ++n) {
      const int32_t key = best[static_cast<int64_t>(n) * shape.longest_query];
      if (key >= 0) position[n] = key;
    }
    next.set_numbers(std::move(position));
  }

 private:
  static Attended step(const Attention& attention, const AttendArguments& asked, const State& state) {
    Tape& tape = asked.prepared.values.tape();
    const int32_t* first = tape.keep<int32_t>(state.numbers());  // a backward reads it, too
    auto* from = new (tape.keep<From>(1)) From{first, attention.options().heads};
    auto* region = new (tape.keep<kernels::CustomRegion>(1)) kernels::CustomRegion(kernels::custom_region(*from));
    return attention.run({asked.queries, asked.prepared, state, asked.request}, region);
  }

  int64_t heads_;
};

std::unique_ptr<Time> make_forward_only(const Scope&, const Options& options) {
  return std::make_unique<ForwardOnly>(options);
}

std::string refuse_forward_only(const Options& o, const Parts& parts) {
  if (parts.input->own_queries) return "forward_only needs queries in order; learned queries have none";
  if (parts.normalise->draws && o.samples != 1)
    return fmt::format("forward_only moves to the one key that was chosen, so samples must be 1, not {}", o.samples);
  return "";
}
}  // namespace

const Entry forward_only_entry = {
    .id = "T4",
    .name = "forward_only",
    .part = Part::time,
    .title = "the position only moves forward",
    .formula = "j >= p_(t-1),  p_t = argmax_j a_tj",
    .paper = "compare Raffel et al. 2017, Online and Linear-Time Attention by Enforcing Monotonic Alignments",
    .time = "one run of the loop per step",
    .memory = "that of n steps",
    .combines = "any score, normaliser and region",
    .page =
        "The hard form of guided attention: a step may look at the previous step's best key and everything after it, "
        "never before it. It suits speech, spelling and transliteration, which run from left to right.\n\n"
        "The choice itself has no gradient; the weights of the visible keys have the usual one.",
    .order_matters = true,
    .instead = {.in_encoder = &dynamic_entry, .in_decoder = &dynamic_entry},
    .step_by_step = true,
    .refuses = refuse_forward_only,
    .make_time = make_forward_only,
};

}  // namespace heed::attend
