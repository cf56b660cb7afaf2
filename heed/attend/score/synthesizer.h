// Scores that a token writes by itself, without looking at the keys: the bias alone decides.
#pragma once

#include "heed/attend/score/score.h"

namespace heed::attend {

/// W2 relu(W1 q + b1) + b2: a row of scores per query.  [rows, Dq] -> [rows, max_length]
/// Parameters: hidden.weight [hidden, Dq], hidden.bias [hidden], row.weight [max_length, hidden], row.bias
/// [max_length].
class DenseRows {
 public:
  DenseRows(const Scope& scope, const Options& options);
  Tensor operator()(Tensor q) const;

 private:
  Linear hidden_, row_;
};

/// A row of scores per position and head.  Parameters: table [H * max_length, max_length].
class RandomTable {
 public:
  RandomTable(const Scope& scope, const Options& options);
  Tensor table(Tape& tape) const { return tape.parameter(*table_); }

 private:
  Parameter* table_;
};

/// Throws where a memory or a target is longer than what was trained.
void check_length(const CallContext& c, const char* name, int64_t max_length);

std::string refuse_synthesizer(const Options& options, const Parts&);

}  // namespace heed::attend
