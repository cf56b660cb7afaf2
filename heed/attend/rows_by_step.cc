#include "heed/attend/rows_by_step.h"

#include <algorithm>
#include <utility>

#include "heed/tensor/op/arrange.h"

namespace heed::attend {

RowsByStep::RowsByStep(const Offsets& all, Ended ended, Tape& tape) : all_(all), tape_(tape) {
  places_.resize(static_cast<size_t>(all.total()));
  int64_t taken = 0;
  const int64_t steps = all.longest();
  for (int64_t t = 0; t < steps; ++t) {
    std::vector<int64_t> rows, offsets = {0};
    for (int64_t b = 0; b < all.count; ++b) {
      const bool there = t < all.length(b);
      if (there) places_[static_cast<size_t>(all.at[b] + t)] = taken + std::ssize(rows);
      if (there || ended == Ended::last_row) rows.push_back(all.at[b] + std::min(t, all.length(b) - 1));
      offsets.push_back(std::ssize(rows));
    }
    taken += std::ssize(rows);
    steps_.push_back({std::move(rows), tape.offsets(offsets)});
  }
}

Packed RowsByStep::take(Tensor all, int64_t step) const { return {gather_rows(all, rows(step)), offsets(step)}; }

Tensor RowsByStep::put_back(const std::vector<Tensor>& of_steps) const {
  return gather_rows(concat_rows(of_steps), places_);
}

Tensor RowsByStep::put_back_columns(const std::vector<Tensor>& of_steps) const {
  std::vector<Tensor> turned;
  turned.reserve(of_steps.size());
  for (const Tensor& step : of_steps) turned.push_back(transpose(step));
  return transpose(put_back(turned));
}

Weights RowsByStep::put_back_weights(const std::vector<Weights>& of_steps) const {
  Weights w = of_steps[0];
  w.queries = steps();
  w.data = tape_.keep<float>(w.batch * w.heads * w.queries * w.keys);
  for (int64_t b = 0; b < w.batch; ++b)
    for (int64_t h = 0; h < w.heads; ++h)
      for (int64_t t = 0; t < w.queries; ++t) {
        if (t < all_.length(b))
          std::copy_n(of_steps[static_cast<size_t>(t)].at(b, h, 0), w.keys, w.at(b, h, t));
        else
          std::fill_n(w.at(b, h, t), w.keys, 0.0f);
      }
  return w;
}

namespace {

/// What belongs to these rows.
Queries pick(const Queries& all, std::span<const int64_t> rows, const Offsets& offsets, int64_t heads) {
  Tape& tape = all.rows.rows.tape();
  Queries one = all;
  one.rows = {gather_rows(all.rows.rows, rows), offsets};
  std::vector<int64_t> of_heads;  // rows, for tensors with one per query and head
  for (const int64_t row : rows)
    for (int64_t h = 0; h < heads; ++h) of_heads.push_back(row * heads + h);
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

}  // namespace

Attended attend_by_step(const AttendArguments& asked, int64_t heads,
                        const std::function<Attended(const AttendArguments&)>& step) {
  const Offsets& all = asked.queries.rows.offsets;
  Tape& tape = asked.queries.rows.rows.tape();
  const RowsByStep by_step(all, Ended::no_row, tape);
  State state = asked.state;
  std::vector<Tensor> contexts, log_probs, entropies, guide_costs, aligned_weights;
  std::vector<Weights> weights;
  for (int64_t t = 0; t < by_step.steps(); ++t) {
    Queries one = pick(asked.queries, by_step.rows(t), by_step.offsets(t), heads);
    if (asked.queries.lengths) {
      auto* counts = tape.keep<int32_t>(all.count);
      for (int64_t b = 0; b < all.count; ++b) counts[b] = t < asked.queries.lengths[b] ? 1 : 0;
      one.lengths = counts;
    }
    const Attended a = step({one, asked.prepared, state, asked.request});
    state = a.state;
    contexts.push_back(a.context);
    if (a.log_prob) log_probs.push_back(a.log_prob);
    if (a.entropy) entropies.push_back(a.entropy);
    if (a.guide_cost) guide_costs.push_back(a.guide_cost);
    if (a.aligned_weight) aligned_weights.push_back(a.aligned_weight);
    weights.push_back(a.weights);
  }
  Attended a;
  a.context = by_step.put_back(contexts);
  a.state = state;
  if (!log_probs.empty()) a.log_prob = by_step.put_back_columns(log_probs);
  if (!entropies.empty()) a.entropy = by_step.put_back_columns(entropies);
  if (!guide_costs.empty()) a.guide_cost = by_step.put_back_columns(guide_costs);
  if (!aligned_weights.empty()) a.aligned_weight = by_step.put_back_columns(aligned_weights);
  if (asked.request.weights) a.weights = by_step.put_back_weights(weights);
  return a;
}

}  // namespace heed::attend
