#include "heed/decode/state.h"

namespace heed::decode {

void State::select(std::span<const int64_t> rows) {
  const RowSelection chosen = rows_.select(rows);  // first: it refuses rows that do not exist
  for (OffTapeMatrix& matrix : matrices_) matrix.select(rows);
  for (SelfAttentionCache& self : selves_) self.select(rows, step_);
  for (SourceAttention& source : sources_) source.select(chosen);
  for (const std::unique_ptr<State>& member : members_) member->select(rows);
}

}  // namespace heed::decode
