#include "heed/model/decode/state.h"

#include <numeric>

#include "heed/model/decode/hypothesis_rows.h"
#include "heed/model/decode/self_attention_cache.h"
#include "heed/model/decode/source_attention.h"

namespace heed::decode {

State::State(const Offsets& memory, int64_t longest)
    : rows_(std::make_unique<HypothesisRows>(memory)), longest_(longest) {}
State::State(int64_t sequences, int64_t longest)
    : rows_(std::make_unique<HypothesisRows>(sequences)), longest_(longest) {}
State::State(State&&) noexcept = default;
State& State::operator=(State&&) noexcept = default;
State::~State() = default;

int64_t State::rows() const { return rows_->count(); }

void State::add_self_attention(const attend::Mechanism& mechanism) { selves_.emplace_back(mechanism, longest_); }

Tensor State::attend_to_self(size_t number, Tensor x) { return selves_[number].attend(x, step_); }

void State::add_source_attention(const attend::Mechanism& mechanism, const attend::Memory& memory) {
  sources_.emplace_back(mechanism, memory);
}

Tensor State::attend_to_source(size_t number, Tensor queries, attend::Weights* weights) {
  return sources_[number].attend({queries, *rows_, step_}, weights);
}

void State::add_copies(const data::Sequences& of_sources) {
  copies_ = of_sources;
  copied_.resize(static_cast<size_t>(rows()));
  std::iota(copied_.begin(), copied_.end(), int64_t{0});  // at the start there is a row for each source
}

void State::select(std::span<const int64_t> rows) {
  const RowSelection chosen = rows_->select(rows);  // first: it refuses rows that do not exist
  for (OffTapeMatrix& matrix : matrices_) matrix.select(rows);
  for (SelfAttentionCache& self : selves_) self.select(rows, step_);
  for (SourceAttention& source : sources_) source.select(chosen);
  for (const std::unique_ptr<State>& member : members_) member->select(rows);
  if (!copied_.empty()) {
    std::vector<int64_t> copied;
    copied.reserve(rows.size());
    for (const int64_t row : rows) copied.push_back(copied_[static_cast<size_t>(row)]);
    copied_ = std::move(copied);
  }
  if (tokens_.empty()) return;
  std::vector<std::vector<int32_t>> next;
  next.reserve(rows.size());
  for (const int64_t row : rows) next.push_back(tokens_[static_cast<size_t>(row)]);
  tokens_ = std::move(next);
}

}  // namespace heed::decode
