// The state that one step of a search passes to the next: a row per hypothesis. It is stored outside the tape, which
// may be reset between steps.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "heed/attend/mechanism.h"
#include "heed/data/ragged.h"
#include "heed/tensor/off_tape_matrix.h"

namespace heed::decode {

class HypothesisRows;      // hypothesis_rows.h
class SelfAttentionCache;  // self_attention_cache.h
class SourceAttention;     // source_attention.h

/// One for every kind of decoder: a decoder adds what it needs when it starts, and uses it at every step. Each item has
/// an index, from 0 for each kind of item.
/// Threads: one at a time.
class State {
 public:
  /// For at most `longest` steps: a row for each sequence of the memory.
  State(const Offsets& memory, int64_t longest);
  /// The same without a memory: a decoder that only looks at its own output.
  State(int64_t sequences, int64_t longest);
  State(State&&) noexcept;
  State& operator=(State&&) noexcept;
  ~State();

  /// Steps that have been done: the position of the next token.
  int64_t step() const { return step_; }
  int64_t rows() const;

  /// Row i becomes the former row rows[i]: rows are kept, reordered, repeated or left out. All rows of a sentence share
  /// one memory, as long as they are neighbours; that of a sentence without rows is freed.
  void select(std::span<const int64_t> rows);

  // ---------------------------------------------------------------------------------------------------- for decoders
  /// A matrix [rows, any].
  void add_matrix(Tensor t) { matrices_.emplace_back(t); }
  OffTapeMatrix& matrix(size_t number) { return matrices_[number]; }

  /// Attention to a hypothesis so far. The mechanism must outlive the state.
  void add_self_attention(const attend::Mechanism& mechanism);
  /// x [rows, width] -> contexts [rows, width], where each row sees those of earlier steps and itself.
  Tensor attend_to_self(size_t number, Tensor x);

  /// Attention to a memory, which has the sequences that the state was made for. The mechanism must outlive the state.
  void add_source_attention(const attend::Mechanism& mechanism, const attend::Memory& memory);
  /// Queries [rows, query_width] -> contexts [rows, width]. `weights`, where not null: [rows, heads, 1, keys].
  Tensor attend_to_source(size_t number, Tensor queries, attend::Weights* weights);

  /// The states of several models that write the same output: their rows are selected together with these.
  void add_member(std::unique_ptr<State> member) { members_.push_back(std::move(member)); }
  State& member(size_t number) { return *members_[number]; }
  void replace_member(size_t number, std::unique_ptr<State> member) { members_[number] = std::move(member); }

  /// The tokens of each row that may have to be read again: a list per row, empty at first.
  void add_tokens() { tokens_.assign(static_cast<size_t>(rows()), {}); }
  std::vector<std::vector<int32_t>>& tokens() { return tokens_; }

  /// For a decoder that copies: what the tokens of the source of each row are as target tokens (data::Source::copies).
  void add_copies(const data::Sequences& of_sources);
  const data::Sequences& copies() const { return copies_; }  // of all sources
  std::span<const int32_t> copies_of(int64_t row) const { return copies_[copied_[static_cast<size_t>(row)]]; }

  /// The step is done: the last thing that Decoder::step() does. A text that was read before counts as steps.
  void advance(int64_t steps = 1) { step_ += steps; }

 private:
  std::unique_ptr<HypothesisRows> rows_;
  int64_t longest_;
  int64_t step_ = 0;
  std::vector<OffTapeMatrix> matrices_;
  std::vector<SelfAttentionCache> selves_;
  std::vector<SourceAttention> sources_;
  std::vector<std::unique_ptr<State>> members_;
  std::vector<std::vector<int32_t>> tokens_;  // [rows], or none
  data::Sequences copies_;
  std::vector<int64_t> copied_;  // [rows]: which of copies_; or none
};

}  // namespace heed::decode
