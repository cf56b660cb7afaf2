// A model that generates token by token: the interface for a search.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "heed/data/source.h"
#include "heed/model/decode/decoder.h"

namespace heed::model {

/// What a decoder reads: sequences of token ids, one after another.
struct PackedIds {
  std::span<const int32_t> ids;      // [tokens]
  std::span<const int64_t> offsets;  // [B + 1]
};

class Generator;

/// Generator::each_logits() of a generator that has only start() and step().
void each_logits_by_steps(const Generator& generator, Tape& tape, const data::Sources& sources, const PackedIds& inputs,
                          const std::function<void(int64_t first, Tensor logits)>& visit);

/// What a search asks of any model that it runs over.
/// Threads: many searches may use it at once, each with its own tape.
class Searchable {
 public:
  virtual ~Searchable() = default;

  /// How many rows of memory source b becomes: an alignment has a weight for each, and a batch is measured by them. 0:
  /// there is nothing to read.
  virtual int64_t memory_rows(const data::Sources& sources, int64_t b) const { return sources.tokens.length(b); }
  /// Of an alignment: the heads of each of its layers.
  virtual std::vector<int64_t> alignment_heads() const = 0;
};

/// Threads: as Searchable; a state belongs to one search.
class Generator : public Searchable {
 public:
  /// Reads the sources, for a search of at most `longest` steps: one row per source. They need not outlive the call.
  virtual std::unique_ptr<decode::State> start(Tape& tape, const data::Sources& sources, int64_t longest) const = 0;

  /// The previous token of each row [rows] -> logits of the next [rows, vocabulary]. `alignment`: where each row
  /// looked, on request.
  virtual Tensor step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
                      decode::Alignment* alignment = nullptr) const = 0;

  /// Whole inputs at once, START first: logits [some rows, vocabulary] of the token after each, from row `first` on,
  /// some rows at a time; they live during the call. The tape must not record, and is reset. By default step by step.
  virtual void each_logits(Tape& tape, const data::Sources& sources, const PackedIds& inputs,
                           const std::function<void(int64_t first, Tensor logits)>& visit) const {
    each_logits_by_steps(*this, tape, sources, inputs, visit);
  }

  /// What the first step after start() is given: `start`, or the last token of a source that is to be continued.
  virtual int32_t first_token(const data::Sources& /*sources*/, int64_t /*b*/, int32_t start) const { return start; }
  /// Whether start() takes sources of different lengths.
  virtual bool mixes_lengths() const { return true; }
};

}  // namespace heed::model
