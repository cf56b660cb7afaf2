// A model that writes all positions of an output at once: the interface for a search. generator.h has that of a model
// that writes step by step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/model/decode/decoder.h"
#include "heed/model/embed/embed.h"
#include "heed/model/generator.h"
#include "heed/tensor/off_tape_matrix.h"

namespace heed::model {

/// In the place of a token that is not known yet.
inline constexpr int32_t kBlank = embed::kBlank;

/// Sources that were read. They are stored outside the tape, which may be reset between passes.
struct ReadSources {
  OffTapeMatrix memory;               // [source tokens, width]
  std::vector<OffTapeMatrix> blocks;  // as encode::Encoded::blocks: for a decoder that attends to them
  std::vector<int64_t> offsets;       // [B + 1]
  /// [B][n]: log p(the output has n tokens); empty for a model with slots.
  std::vector<std::vector<double>> lengths;
};

/// Outputs in the making. A source may have several, or none; those of one source are neighbours.
struct Drafts {
  std::span<const int32_t> tokens;   // [rows]: a token, or kBlank
  std::span<const int64_t> offsets;  // [drafts + 1], of the rows
  std::span<const int64_t> source;   // [drafts]: the number of its source, never decreasing
  std::span<const int64_t> asked;    // rows whose token is asked for, rising
};

/// Threads: as Searchable.
class ParallelGenerator : public Searchable {
 public:
  virtual ReadSources read(Tape& tape, const data::Sources& sources) const = 0;

  /// One pass: logits [asked, vocabulary] of the tokens that are asked for, given all that are known. `alignment`:
  /// where each row of each draft looked, on request, [drafts, H, rows, source].
  virtual Tensor write(Tape& tape, const ReadSources& sources, const Drafts& drafts,
                       decode::Alignment* alignment = nullptr) const = 0;

  /// Above 0: an output has so many slots, and is cut at the first END. 0: read() predicts how long it is.
  virtual int64_t slots() const = 0;
};

}  // namespace heed::model
