#include "heed/decode/state.h"

namespace heed::decode {

void State::select(std::span<const int64_t> rows) {
  const RowSelection chosen = rows_.select(rows);  // first: it refuses rows that do not exist
  for (OffTapeMatrix& matrix : matrices_) matrix.select(rows);
  for (SelfAttentionCache& self : selves_) self.select(rows, step_);
  for (SourceAttention& source : sources_) source.select(chosen);
  for (const std::unique_ptr<State>& member : members_) member->select(rows);
  if (tokens_.empty()) return;
  std::vector<std::vector<int32_t>> next;
  next.reserve(rows.size());
  for (const int64_t row : rows) next.push_back(tokens_[static_cast<size_t>(row)]);
  tokens_ = std::move(next);
}

}  // namespace heed::decode
