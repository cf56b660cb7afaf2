// The interface of all attention: prepare(memory) gives a value, attend(query, prepared, state) gives the context
// and the next state.
//
//   PreparedMemory prepared = mechanism->prepare({source});
//   Attended all = mechanism->attend({target}, prepared, {});              // every step at once, or
//   for (...) { Attended one = mechanism->attend({row}, prepared, state); state = one.state; }     // step by step
//
// Both give the same numbers: a call handles the steps [state.step(), state.step() + rows of each sequence).
#pragma once

#include <cstdint>

#include "heed/attend/state.h"
#include "heed/tensor/op/attention.h"
#include "heed/tensor/tape.h"

namespace heed::attend {

struct GivenAlignments;  // given_alignments.h: given alignments

/// What is attended to. `rows.rows` [key rows, key_width]; heads without projections are side by side.
struct Memory {
  Packed rows;                         // keys
  Tensor values = {};                  // [key rows, value_width]; empty: the keys are the values
  const int32_t* documents = nullptr;  // region documents: an id per key row, never decreasing within a sequence
  Offsets sentences = {};              // hierarchical: document d holds the sequences [at[d], at[d + 1])
  /// Rows are [B, heads, T] instead of [tokens] with heads side by side; all sequences are equally long.
  bool stacked = false;
  const int32_t* lengths = nullptr;  // [B] number of valid keys, from the start; null: all
};

/// The queries. `rows.rows` [query rows, query_width]. Empty for learned queries and static attention: one call, B
/// rows.
struct Queries {
  Packed rows;
  const int32_t* documents = nullptr;  // an id per query row
  const uint8_t* mask = nullptr;       // nonzero: visible. [query rows, mask_keys]; one for all heads, or:
  int64_t mask_keys = 0;
  bool mask_per_head = false;  // [query rows * H, mask_keys]: row i * H + h; stacked [B, H, T, mask_keys]
  Tensor bias = {};            // added to the scores, [query rows, at least the longest memory]; one for all heads, or:
  bool bias_per_head = false;  // in the order of mask_per_head
  bool stacked = false;
  const int32_t* lengths = nullptr;  // [B] number of valid queries, from the start; the others give 0. Null: all
  /// The last valid query is aligned with the last valid key, instead of the first query with State::step().
  bool bottom_right = false;
  /// Window of visible keys before and after a query's position, within the regions; -1: no bound.
  int64_t window_left = -1, window_right = -1;
};

/// Made once per memory, used for every query.
struct PreparedMemory {
  Memory memory;         // as given
  Tensor keys, values;   // k' [key rows, G * D], v [key rows, G * Dv]
  Offsets offsets = {};  // of the keys; empty for a memory that grows:
  int64_t batch = 0;
  int64_t capacity = 0;  // room for this many rows per sequence
  int64_t filled = 0;    // rows so far
};

struct Request {
  bool weights = false;                    // the weights, dense
  bool guide_cost = false;                 // guided
  bool entropy = false;                    // softmax, hard_sampled
  bool penalty = false;                    // structured: ||A A^T - I||^2
  const GivenAlignments* links = nullptr;  // the weight on these pairs; not with guided, static or own structures
};

/// Dense weights, 0 where there is no key. They live as long as the tape's tensors.
struct Weights {
  int64_t batch = 0, heads = 0, queries = 0, keys = 0;
  float* data = nullptr;  // [batch, heads, queries, keys]

  float* at(int64_t b, int64_t h, int64_t i) const { return data + ((b * heads + h) * queries + i) * keys; }
};

struct Attended {
  Tensor context;         // [query rows, H * Dv], or [.., output_width] with project_output
  State state;            // for the next call
  Weights weights;        // on request
  Weights inner_weights;  // hierarchical: of the words in each sentence
  Tensor log_prob;    // hard_sampled during training: of each choice, [samples * H, query rows]; static: once, at its
                      // first step, [samples * H, B], as is its entropy
  Tensor entropy;     // on request, [H, query rows]
  Tensor guide_cost;  // on request, [H, query rows]
  Tensor aligned_weight;  // on request, [H, query rows]: of each query, the sum of its weights on its links
  Tensor penalty;         // on request, [1, 1]: summed over the sequences
};

/// The arguments of a call, together.
struct AttendArguments {
  const Queries& queries;
  const PreparedMemory& prepared;
  const State& state;
  const Request& request;
};

/// What a search needs to know: its hypotheses of one sentence share a memory.
struct Traits {
  int64_t heads = 1;  // of its weights
  /// Whether a query's position in its sequence matters, or what earlier queries saw. If not, the queries of a call may
  /// be hypotheses at the same step.
  bool order_matters = true;
  bool weighs_sentences = false;  // Entry::weighs_sentences
  bool reads_memory = true;       // attend() reads PreparedMemory::memory.rows, not only keys and values
};

/// Threads: many may call it at once, each with its own tape.
class Mechanism {
 public:
  virtual ~Mechanism() = default;

  virtual Traits traits() const { return {}; }

  virtual PreparedMemory prepare(const Memory& memory) const = 0;
  virtual Attended attend(const Queries& queries, const PreparedMemory& prepared, const State& state,
                          const Request& request) const = 0;
  Attended attend(const Queries& queries, const PreparedMemory& prepared, const State& state = {}) const {
    return attend(queries, prepared, state, {});
  }

  /// A memory that grows step by step, for causal self-attention, with room for `capacity` rows in each of `batch`
  /// sequences.
  virtual PreparedMemory begin(Tape& tape, int64_t batch, int64_t capacity) const;
  /// Adds one row per sequence, [B, key_width]. The tensors of `so_far` are written in place.
  virtual PreparedMemory extend(const PreparedMemory& so_far, const Memory& rows) const;

  virtual int64_t context_width() const = 0;
};

}  // namespace heed::attend
