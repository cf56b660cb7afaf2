// The part that scores a pair. queries() and keys() do the work per token; the loop sees only q' and k'.
#pragma once

#include <memory>

#include "heed/attend/all.h"
#include "heed/attend/call.h"
#include "heed/layer/linear.h"

namespace heed::attend {

/// Threads: as Mechanism.
class Score {
 public:
  virtual ~Score() = default;

  /// [rows, Dq] -> q' [rows, D]. A row is one query of one head.
  virtual Tensor queries(Tensor q) const { return q; }
  /// [rows, Dk] -> k' [rows, D]
  virtual Tensor keys(Tensor k) const { return k; }
  /// The score's kind, its numbers and its learned tensors.
  virtual void configure(CallContext& c) const = 0;
  /// Dq if the score itself decides it (learned queries); 0: the query's width.
  virtual int64_t query_width() const { return 0; }
  /// False: the query does not matter and may be omitted: then one row per sequence.
  virtual bool reads_queries() const { return true; }
  /// False: the bias alone decides, q' and k' are not used.
  virtual bool reads_pairs() const { return true; }
};

/// The usual `make_score`.
template <class T>
std::unique_ptr<Score> new_score(const Scope& scope, const Options& options) {
  return std::make_unique<T>(scope / "score", options);
}

/// For scores that multiply q and k directly.
std::string refuse_unequal_widths(const Options& options, const Parts&);

}  // namespace heed::attend
