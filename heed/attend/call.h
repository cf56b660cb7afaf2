// One call of the loop, as the parts of an attention see it while they fill it in.
#pragma once

#include "heed/attend/mechanism.h"
#include "heed/tensor/op/attention.h"

namespace heed::attend {

/// What a bias has a row for.
enum class BiasRows {
  one,             // [1, 1]: a number for all pairs
  query,           // [query rows, keys]: the same for all heads
  query_and_head,  // [query rows * H, keys]: in the order of CallContext::query_rows
  table,           // [H * length, keys]: row h * length + position(i), the same for all sequences
};

struct CallContext {
  AttentionCall& call;
  const Queries& queries;
  const PreparedMemory& prepared;
  const State& state;
  Tensor query_rows;  // [query rows * H, Dq]: a row per query and head, as they enter the score. May be empty
  int64_t heads;
  Tape& tape;
  BiasRows bias_rows = BiasRows::one;  // of call.bias, where there is one

  int64_t query_count() const { return call.query_offsets.total(); }
  int64_t longest_memory() const;
  int64_t key_length(int64_t sequence) const;
  /// Position of the first query of a sequence among its keys.
  int64_t first_position(int64_t sequence) const;

  /// Adds a bias to the scores; several add up.
  void add_bias(Tensor bias, BiasRows rows);
  /// A number per query and head, [query rows * H, 1], as the tensor of rows that the loop needs.
  Tensor of_rows(Tensor column) const;
  /// Sequence and position of each row of query_rows: visit(row, sequence, head, position).
  template <class Visit>
  void each_query_row(Visit&& visit) const {
    const Offsets& o = call.query_offsets;
    for (int64_t b = 0; b < o.count; ++b)
      for (int64_t i = o.at[b]; i < o.at[b + 1]; ++i)
        for (int64_t h = 0; h < heads; ++h) {
          const int64_t within = i - o.at[b];
          const int64_t row = call.stacked ? (b * heads + h) * o.length(b) + within : i * heads + h;
          visit(row, b, h, within + first_position(b));
        }
  }
  /// Any bias as one with a row per query and head.
  Tensor per_query_and_head(Tensor bias, BiasRows rows) const;
};

}  // namespace heed::attend
