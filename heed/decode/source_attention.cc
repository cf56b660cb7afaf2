#include "heed/decode/source_attention.h"

#include <algorithm>

#include "heed/tensor/error.h"
#include "heed/tensor/op/arrange.h"

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

SourceAttention::SourceAttention(const attend::Mechanism& mechanism, const Packed& memory)
    : mechanism_(&mechanism), traits_(mechanism.traits()) {
  const attend::Prepared p = mechanism.prepare({memory});
  std::vector<const float*> taken;
  const auto keep = [&](Tensor t) {
    if (!t) return -1;
    const auto at = std::find(taken.begin(), taken.end(), t.data()) - taken.begin();
    if (at == std::ssize(taken)) {
      taken.push_back(t.data());
      memories_.emplace_back().take(t);
    }
    return static_cast<int>(at);
  };
  keys_ = keep(p.keys);
  values_ = keep(p.values);
  if (traits_.reads_memory) rows_ = keep(p.memory.rows.rows);
}

attend::Prepared SourceAttention::prepared(Tape& tape, const Groups& groups) const {
  const auto tensor = [&](int at) { return at < 0 ? Tensor() : memories_[static_cast<size_t>(at)].on(tape); };
  attend::Prepared p;
  p.memory.rows = {tensor(rows_), groups.memory()};
  p.keys = tensor(keys_);
  p.values = tensor(values_);
  p.offsets = groups.memory();
  p.batch = groups.sentences();
  return p;
}

Tensor SourceAttention::attend(Tensor queries, const Groups& groups, attend::Weights* weights) {
  expect(queries.rows() == groups.row_count(), "step: {} tokens for {} hypotheses", queries.rows(), groups.row_count());
  Tape& tape = queries.tape();
  const attend::Prepared memory = prepared(tape, groups);
  const attend::Attended a = traits_.order_matters
                                 ? attend_in_turn(queries, memory, groups, weights != nullptr)
                                 : attend_together({queries, groups.rows()}, memory, weights != nullptr);
  if (weights) *weights = of_rows(a.weights, groups.rows(), tape);
  ++step_;
  return a.context;
}

attend::Attended SourceAttention::attend_together(const Packed& queries, const attend::Prepared& memory, bool weights) {
  attend::State state{.step = step_};
  if (!context_.empty()) {
    state.context = context_.on(queries.rows.tape());
    state.weights = weights_.empty() ? nullptr : weights_.data();
  }
  const attend::Attended a = mechanism_->attend({queries}, memory, state, {.weights = weights});
  const bool is_new = a.state.context && (context_.empty() || (weights && weights_.empty()));
  if (is_new) {
    context_.take(a.state.context);
    if (const float* w = a.state.weights)
      weights_.assign(w, w + memory.batch * traits_.heads * memory.offsets.longest());
  }
  return a;
}

attend::Attended SourceAttention::attend_one(const Packed& queries, const attend::Prepared& memory, Seen& seen,
                                             bool weights) {
  attend::State state{.step = step_};
  if (!seen.column_lse.empty()) state.column_lse = seen.column_lse.on(queries.rows.tape());
  if (!seen.position.empty()) state.position = seen.position.data();
  const attend::Attended a = mechanism_->attend({queries}, memory, state, {.weights = weights});
  if (a.state.column_lse) seen.column_lse.take(a.state.column_lse);
  if (const int32_t* p = a.state.position) seen.position.assign(p, p + memory.batch * traits_.heads);
  return a;
}

attend::Attended SourceAttention::attend_in_turn(Tensor queries, const attend::Prepared& memory, const Groups& groups,
                                                 bool weights) {
  const Offsets rows = groups.rows();
  const int64_t most = groups.most();
  seen_.resize(static_cast<size_t>(most));
  if (queries.rows() == rows.count && most == 1) return attend_one({queries, rows}, memory, seen_[0], weights);

  Tape& tape = queries.tape();
  attend::Attended all;
  std::vector<Tensor> contexts;
  int64_t* place = tape.keep<int64_t>(queries.rows());  // of each row among the contexts
  int64_t done = 0;
  for (int64_t n = 0; n < most; ++n) {
    std::vector<int64_t> picked, offsets = {0};
    for (int64_t g = 0; g < rows.count; ++g) {
      if (n < rows.length(g)) {
        picked.push_back(rows.at[g] + n);
        place[picked.back()] = done++;
      }
      offsets.push_back(std::ssize(picked));
    }
    const attend::Attended a = attend_one({gather_rows(queries, picked), tape.offsets(offsets)}, memory,
                                          seen_[static_cast<size_t>(n)], weights);
    contexts.push_back(a.context);
    if (!weights) continue;
    if (n == 0) {
      all.weights = a.weights;
      all.weights.queries = most;
      all.weights.data = tape.keep<float>(rows.count * all.weights.heads * most * all.weights.keys);
    }
    for (int64_t g = 0; g < rows.count; ++g)
      for (int64_t h = 0; h < all.weights.heads && n < rows.length(g); ++h)
        std::copy_n(a.weights.at(g, h, 0), all.weights.keys, all.weights.at(g, h, n));
  }
  all.context = gather_rows(concat_rows(contexts), {place, static_cast<size_t>(queries.rows())});
  return all;
}

void SourceAttention::select(const Selection& s) {
  if (!s.same_sentences) {
    for (Kept& memory : memories_) memory.select(s.tokens);
    context_.clear();  // made again by the next step
    weights_.clear();
  }
  int64_t most = 0;
  for (size_t g = 0; g < s.sentences.size(); ++g)
    most = std::max(most, s.next_row_offsets[g + 1] - s.next_row_offsets[g]);
  std::vector<Seen> next;
  for (int64_t n = 0; n < most && !seen_.empty(); ++n) next.push_back(seen_by(n, s));
  seen_ = std::move(next);
}

SourceAttention::Seen SourceAttention::seen_by(int64_t n, const Selection& s) const {
  Seen seen;
  const auto sentences = static_cast<int64_t>(s.sentences.size());
  const int64_t heads = traits_.heads, tokens = s.next_memory_offsets.back();
  const bool has_columns = !seen_[0].column_lse.empty(), has_position = !seen_[0].position.empty();
  std::vector<float> columns(has_columns ? static_cast<size_t>(heads * tokens) : 0);
  if (has_position) seen.position.resize(static_cast<size_t>(sentences * heads));
  for (int64_t g = 0; g < sentences; ++g) {
    const int64_t row = s.next_row_offsets[g] + n, from = s.sentences[g];
    if (row >= s.next_row_offsets[g + 1]) continue;
    const Seen& before = seen_[static_cast<size_t>(s.rows[row] - s.row_offsets[from])];
    for (int64_t h = 0; h < heads; ++h) {
      if (has_position) seen.position[g * heads + h] = before.position[from * heads + h];
      if (has_columns)
        std::copy(before.column_lse.row(h) + s.memory_offsets[from],
                  before.column_lse.row(h) + s.memory_offsets[from + 1],
                  columns.begin() + h * tokens + s.next_memory_offsets[g]);
    }
  }
  if (has_columns) seen.column_lse = Kept(std::move(columns), heads, tokens);
  return seen;
}

}  // namespace heed::decode
