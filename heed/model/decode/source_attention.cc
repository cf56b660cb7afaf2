#include "heed/model/decode/source_attention.h"

#include <algorithm>
#include <utility>

#include "heed/attend/rows_by_step.h"
#include "heed/base/error.h"

namespace heed::decode {

namespace {

/// [sentences, heads, hypotheses of each, keys] -> [rows, heads, 1, keys]
attend::Weights of_rows(const attend::Weights& all, const Offsets& rows, Tape& tape) {
  if (all.queries == 1 && rows.total() == rows.count) return all;
  attend::Weights w{rows.total(), all.heads, 1, all.keys, nullptr};
  w.data = tape.keep<float>(w.batch * w.heads * w.keys);
  for (int64_t g = 0; g < rows.count; ++g)
    for (int64_t r = rows.at[g]; r < rows.at[g + 1]; ++r)
      for (int64_t h = 0; h < w.heads; ++h) std::copy_n(all.at(g, h, r - rows.at[g]), w.keys, w.at(r, h, 0));
  return w;
}

}  // namespace

SourceAttention::SourceAttention(const attend::Mechanism& mechanism, const attend::Memory& memory)
    : mechanism_(&mechanism), traits_(mechanism.traits()) {
  const attend::PreparedMemory p = mechanism.prepare(memory);
  std::vector<const float*> taken;
  const auto keep = [&](Tensor t) {
    if (!t) return -1;
    const auto at = std::find(taken.begin(), taken.end(), t.data()) - taken.begin();
    if (at == std::ssize(taken)) {
      taken.push_back(t.data());
      memories_.emplace_back(t);
    }
    return static_cast<int>(at);
  };
  keys_ = keep(p.keys);
  values_ = keep(p.values);
  if (traits_.reads_memory) rows_ = keep(p.memory.rows.rows);
  if (!memory.documents) return;
  const Tensor ids = memory.rows.rows.tape().filled(memory.rows.rows.rows(), 1, 0.0f);  // below 2^24: exact
  for (int64_t r = 0; r < ids.rows(); ++r) ids.data()[r] = static_cast<float>(memory.documents[r]);
  sentences_ = keep(ids);
}

attend::PreparedMemory SourceAttention::prepared(Tape& tape, const HypothesisRows& rows) const {
  const auto tensor = [&](int at) { return at < 0 ? Tensor() : memories_[static_cast<size_t>(at)].on(tape); };
  attend::PreparedMemory p;
  p.memory.rows = {tensor(rows_), rows.memory_offsets()};
  p.keys = tensor(keys_);
  p.values = tensor(values_);
  p.offsets = rows.memory_offsets();
  p.batch = rows.sequences();
  if (const Tensor ids = tensor(sentences_)) {
    auto* documents = tape.keep<int32_t>(ids.rows());
    for (int64_t r = 0; r < ids.rows(); ++r) documents[r] = static_cast<int32_t>(ids.data()[r]);
    p.memory.documents = documents;
  }
  return p;
}

Tensor SourceAttention::attend(const SourceQueries& asked, attend::Weights* weights) {
  const HypothesisRows& rows = asked.rows;
  expect(asked.queries.rows() == rows.count(), "step: {} tokens for {} hypotheses", asked.queries.rows(), rows.count());
  Tape& tape = asked.queries.tape();
  const attend::PreparedMemory memory = prepared(tape, rows);
  const int64_t turns = traits_.order_matters ? rows.offsets().longest() : 1;
  seen_.resize(static_cast<size_t>(turns));
  for (attend::State& state : seen_) state.set_step(asked.step);
  const attend::Attended a = turns == 1 ? call({asked.queries, rows.offsets()}, memory, seen_[0], weights != nullptr)
                                        : call_in_turn(asked, memory, weights != nullptr);
  if (weights) *weights = of_rows(a.weights, rows.offsets(), tape);
  return a.context;
}

attend::Attended SourceAttention::call(const Packed& queries, const attend::PreparedMemory& memory,
                                       attend::State& state, bool weights) {
  attend::Attended a = mechanism_->attend({queries}, memory, state, {.weights = weights});
  state = a.state;
  state.leave_tape();
  return a;
}

attend::Attended SourceAttention::call_in_turn(const SourceQueries& asked, const attend::PreparedMemory& memory,
                                               bool weights) {
  const attend::RowsByStep turns(asked.rows.offsets(), attend::Ended::no_row, asked.queries.tape());
  std::vector<Tensor> contexts;
  std::vector<attend::Weights> of_turns;
  for (int64_t n = 0; n < turns.steps(); ++n) {
    const attend::Attended a = call(turns.take(asked.queries, n), memory, seen_[static_cast<size_t>(n)], weights);
    contexts.push_back(a.context);
    of_turns.push_back(a.weights);
  }
  attend::Attended all;
  all.context = turns.put_back(contexts);
  if (weights) all.weights = turns.put_back_weights(of_turns);
  return all;
}

void SourceAttention::select(const RowSelection& s) {
  if (!s.same_sequences)
    for (OffTapeMatrix& memory : memories_) memory.select(s.memory_rows);
  if (seen_.empty()) return;
  const auto sequences = std::ssize(s.sequences);
  const Offsets memory{s.memory_offsets.data(), std::ssize(s.memory_offsets) - 1};
  const int64_t turns = traits_.order_matters ? Offsets{s.next_row_offsets.data(), sequences}.longest() : 1;
  std::vector<attend::State> next;
  std::vector<attend::State::Origin> origins(s.sequences.size());
  for (int64_t n = 0; n < turns; ++n) {
    for (int64_t g = 0; g < sequences; ++g) {
      const int64_t row = s.next_row_offsets[g] + n, from = s.sequences[g];
      const bool there = row < s.next_row_offsets[g + 1];
      const int64_t turn = there && traits_.order_matters ? s.rows[row] - s.row_offsets[from] : 0;
      origins[static_cast<size_t>(g)] = {there ? &seen_[static_cast<size_t>(turn)] : nullptr, from};
    }
    next.push_back(attend::State::select(origins, memory));
  }
  seen_ = std::move(next);
}

}  // namespace heed::decode
