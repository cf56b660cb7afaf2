// What one step of a search leaves for the next: a row per hypothesis. It stands outside the tape, which may be reset
// between steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/attend/mechanism.h"
#include "heed/decode/hypothesis_rows.h"
#include "heed/decode/self_attention_cache.h"
#include "heed/decode/source_attention.h"
#include "heed/tensor/off_tape_matrix.h"

namespace heed::decode {

/// One for every kind of decoder: a decoder puts in what it needs when it starts, and uses it at every step. What is
/// put in has a number, from 0 on for each kind of thing.
class State {
 public:
  /// For at most `longest` steps: a row for each sequence of the memory.
  State(const Offsets& memory, int64_t longest) : rows_(memory), longest_(longest) {}
  /// The same without a memory: a decoder that looks at nothing but what it has said.
  State(int64_t sequences, int64_t longest) : rows_(sequences), longest_(longest) {}

  /// Steps that have been done: the position of the next token.
  int64_t step() const { return step_; }
  int64_t rows() const { return rows_.count(); }

  /// Row i becomes what row rows[i] was: rows are kept, reordered, repeated or left out. The memory of a sentence stays
  /// one for all its rows, as long as they stand below each other; that of a sentence without rows is let go.
  void select(std::span<const int64_t> rows);

  // ---------------------------------------------------------------------------------------------------- for decoders
  /// A matrix [rows, any].
  void add_matrix(Tensor t) { matrices_.emplace_back(t); }
  OffTapeMatrix& matrix(size_t number) { return matrices_[number]; }

  /// Attention to what a hypothesis has said. The mechanism must outlive the state.
  void add_self_attention(const attend::Mechanism& mechanism) { selves_.emplace_back(mechanism, longest_); }
  /// x [rows, width] -> contexts [rows, width], where each row sees those of the steps before, and itself.
  Tensor attend_to_self(size_t number, Tensor x) { return selves_[number].attend(x, step_); }

  /// Attention to a memory, which has the sequences that the state was made for. The mechanism must outlive the state.
  void add_source_attention(const attend::Mechanism& mechanism, const Packed& memory) {
    sources_.emplace_back(mechanism, memory);
  }
  /// Queries [rows, query_width] -> contexts [rows, width]. `weights`, where not null: [rows, heads, 1, keys].
  Tensor attend_to_source(size_t number, Tensor queries, attend::Weights* weights) {
    return sources_[number].attend({queries, rows_, step_}, weights);
  }

  /// The step is done: the last thing that Decoder::step() does.
  void advance() { ++step_; }

 private:
  HypothesisRows rows_;
  int64_t longest_;
  int64_t step_ = 0;
  std::vector<OffTapeMatrix> matrices_;
  std::vector<SelfAttentionCache> selves_;
  std::vector<SourceAttention> sources_;
};

}  // namespace heed::decode
