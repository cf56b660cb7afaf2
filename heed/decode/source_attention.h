// The attention of a search to its sources: prepared once per sentence, and shared by all hypotheses of it.
//
// Hypotheses of one sentence are queries of one sequence, as the packed layout has them. For a mechanism that asks
// where a query stands or what those before it saw (Traits::order_matters), a call takes one hypothesis of each
// sentence, and there are as many calls as a sentence has hypotheses; also then the memory is shared.
#pragma once

#include "heed/attend/mechanism.h"
#include "heed/decode/groups.h"
#include "heed/decode/kept.h"

namespace heed::decode {

class SourceAttention {
 public:
  /// The mechanism must outlive this.
  SourceAttention(const attend::Mechanism& mechanism, const Packed& memory);

  /// The next step: a query per hypothesis [rows, query_width] -> contexts [rows, width]. `weights`, where not null, of
  /// each row: [rows, heads, 1, keys].
  Tensor attend(Tensor queries, const Groups& groups, attend::Weights* weights);
  void select(const Selection& s);

 private:
  /// What the n-th hypothesis of every sentence has seen.
  struct Seen {
    Kept column_lse;                // forced_forward: [H, memory rows]
    std::vector<int32_t> position;  // forward_only: [B * H]
  };

  attend::Prepared prepared(Tape& tape, const Groups& groups) const;
  attend::Attended attend_together(const Packed& queries, const attend::Prepared& memory, bool weights);
  attend::Attended attend_one(const Packed& queries, const attend::Prepared& memory, Seen& seen, bool weights);
  attend::Attended attend_in_turn(Tensor queries, const attend::Prepared& memory, const Groups& groups, bool weights);
  Seen seen_by(int64_t n, const Selection& s) const;

  const attend::Mechanism* mechanism_;
  attend::Traits traits_;
  std::vector<Kept> memories_;  // what `rows_`, `keys_` and `values_` are: often the same numbers
  int rows_ = -1, keys_ = -1, values_ = -1;
  int64_t step_ = 0;
  std::vector<Seen> seen_;
  Kept context_;                // static: the one context of each sentence, [B, width]; and its weights
  std::vector<float> weights_;  // [B, H, longest memory]
};

}  // namespace heed::decode
