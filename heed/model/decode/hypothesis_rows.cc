#include "heed/model/decode/hypothesis_rows.h"

#include <numeric>
#include <utility>

#include "heed/base/error.h"

namespace heed::decode {

HypothesisRows::HypothesisRows(const Offsets& memory)
    : rows_(static_cast<size_t>(memory.count) + 1), memory_(memory.at, memory.at + memory.count + 1) {
  std::iota(rows_.begin(), rows_.end(), 0);
}

HypothesisRows::HypothesisRows(int64_t sequences)
    : rows_(static_cast<size_t>(sequences) + 1), memory_(static_cast<size_t>(sequences) + 1, 0) {
  std::iota(rows_.begin(), rows_.end(), 0);
}

RowSelection HypothesisRows::select(std::span<const int64_t> rows) {
  std::vector<int64_t> sequence_of;
  for (int64_t g = 0; g < sequences(); ++g) sequence_of.insert(sequence_of.end(), rows_[g + 1] - rows_[g], g);

  RowSelection s;
  s.rows = rows;
  s.row_offsets = rows_;
  s.memory_offsets = memory_;
  std::vector<int64_t> next_memory = {0};
  for (size_t i = 0; i < rows.size(); ++i) {
    expect(rows[i] >= 0 && rows[i] < count(), "select: row {} does not exist; there are {}", rows[i], count());
    const int64_t sequence = sequence_of[static_cast<size_t>(rows[i])];
    if (!s.sequences.empty() && s.sequences.back() == sequence) continue;
    s.sequences.push_back(sequence);
    s.next_row_offsets.push_back(static_cast<int64_t>(i));
    next_memory.push_back(next_memory.back() + memory_[sequence + 1] - memory_[sequence]);
  }
  s.next_row_offsets.push_back(static_cast<int64_t>(rows.size()));
  s.same_sequences = static_cast<int64_t>(s.sequences.size()) == sequences();
  for (size_t g = 0; g < s.sequences.size(); ++g) s.same_sequences &= s.sequences[g] == static_cast<int64_t>(g);
  if (!s.same_sequences)
    for (const int64_t sequence : s.sequences)
      for (int64_t t = memory_[sequence]; t < memory_[sequence + 1]; ++t) s.memory_rows.push_back(t);
  rows_ = s.next_row_offsets;
  memory_ = std::move(next_memory);
  return s;
}

}  // namespace heed::decode
