// T4, hard form: the position may only move forward.   Compare Raffel et al. 2017, Online and Linear-Time Attention by
// Enforcing Monotonic Alignments.
//   step t sees the keys j >= p_{t-1},  p_t = argmax_j a_tj,  p_t = p_{t-1} where no key has any weight
// Where a step may look depends on where the previous one looked, so the steps run one after another, even if all
// queries are given at once.
#include <fmt/format.h>

#include <span>
#include <utility>
#include <vector>

#include "heed/attend/attention.h"
#include "heed/attend/rows_by_step.h"
#include "heed/attend/weights.h"
#include "heed/base/error.h"
#include "heed/tensor/op/arrange.h"

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
    Tape& tape = asked.prepared.values.tape();
    State state = asked.state;
    if (state.numbers().empty())
      state.set_numbers(std::vector<int32_t>(static_cast<size_t>(asked.prepared.batch * heads_), 0));
    if (all.longest() <= 1) return step(attention, asked, state);

    const RowsByStep by_step(all, Ended::no_row, tape);
    std::vector<Tensor> contexts, log_probs, entropies, aligned_weights;
    std::vector<Weights> weights;
    for (int64_t t = 0; t < by_step.steps(); ++t) {
      Queries one = pick(asked.queries, by_step.rows(t), by_step.offsets(t), tape);
      if (asked.queries.lengths) {
        auto* counts = tape.keep<int32_t>(all.count);
        for (int64_t b = 0; b < all.count; ++b) counts[b] = t < asked.queries.lengths[b] ? 1 : 0;
        one.lengths = counts;
      }
      const Attended a = step(attention, {one, asked.prepared, state, asked.request}, state);
      state = a.state;
      contexts.push_back(a.context);
      if (a.log_prob) log_probs.push_back(a.log_prob);
      if (a.entropy) entropies.push_back(a.entropy);
      if (a.aligned_weight) aligned_weights.push_back(a.aligned_weight);
      weights.push_back(a.weights);
    }
    Attended a;
    a.context = by_step.put_back(contexts);
    a.state = state;
    if (!log_probs.empty()) a.log_prob = by_step.put_back_columns(log_probs);
    if (!entropies.empty()) a.entropy = by_step.put_back_columns(entropies);
    if (!aligned_weights.empty()) a.aligned_weight = by_step.put_back_columns(aligned_weights);
    if (asked.request.weights) a.weights = by_step.put_back_weights(weights);
    return a;
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

  Queries pick(const Queries& all, std::span<const int64_t> rows, const Offsets& offsets, Tape& tape) const {
    Queries one = all;
    one.rows = {gather_rows(all.rows.rows, rows), offsets};
    std::vector<int64_t> of_heads;  // rows, for tensors with one per query and head
    for (const int64_t row : rows)
      for (int64_t h = 0; h < heads_; ++h) of_heads.push_back(row * heads_ + h);
    if (all.bias) one.bias = gather_rows(all.bias, all.bias_per_head ? std::span<const int64_t>(of_heads) : rows);
    if (all.documents) {
      auto* ids = tape.keep<int32_t>(static_cast<int64_t>(rows.size()));
      for (size_t r = 0; r < rows.size(); ++r) ids[r] = all.documents[rows[r]];
      one.documents = ids;
    }
    if (all.mask) {
      const auto from = all.mask_per_head ? std::span<const int64_t>(of_heads) : rows;
      auto* mask = tape.keep<uint8_t>(static_cast<int64_t>(from.size()) * all.mask_keys);
      for (size_t r = 0; r < from.size(); ++r)
        std::copy_n(all.mask + from[r] * all.mask_keys, all.mask_keys, mask + static_cast<int64_t>(r) * all.mask_keys);
      one.mask = mask;
    }
    return one;
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
