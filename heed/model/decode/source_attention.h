// The attention of a search to its sources: prepared once per sentence and shared by all its hypotheses.
//
// Hypotheses of one sentence are queries of one sequence, as the packed layout has them. For a mechanism that depends
// on a query's position or on what earlier queries saw (Traits::order_matters), a call takes one hypothesis of each
// sentence, and there are as many calls as a sentence has hypotheses. The memory is shared then too.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/attend/mechanism.h"
#include "heed/model/decode/hypothesis_rows.h"
#include "heed/tensor/off_tape_matrix.h"

namespace heed::decode {

/// One step of all hypotheses.
struct SourceQueries {
  Tensor queries;  // [rows, query_width]
  const HypothesisRows& rows;
  int64_t step;
};

class SourceAttention {
 public:
  /// The mechanism must outlive this.
  SourceAttention(const attend::Mechanism& mechanism, const attend::Memory& memory);

  /// Contexts [rows, width]. `weights`, where not null, of each row: [rows, heads, 1, keys].
  Tensor attend(const SourceQueries& asked, attend::Weights* weights);
  void select(const RowSelection& s);

 private:
  attend::PreparedMemory prepared(Tape& tape, const HypothesisRows& rows) const;
  /// One call: reads and updates `state`.
  attend::Attended call(const Packed& queries, const attend::PreparedMemory& memory, attend::State& state,
                        bool weights);
  attend::Attended call_in_turn(const SourceQueries& asked, const attend::PreparedMemory& memory, bool weights);

  const attend::Mechanism* mechanism_;
  attend::Traits traits_;
  std::vector<OffTapeMatrix> memories_;  // what `rows_`, `keys_` and `values_` are: often the same numbers
  int rows_ = -1, keys_ = -1, values_ = -1, sentences_ = -1;
  /// The state of the n-th hypothesis of every sentence; if the order does not matter, the first is shared by all.
  std::vector<attend::State> seen_;
};

}  // namespace heed::decode
