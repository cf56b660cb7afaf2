// tokens -> vectors: a row of a table per token, and its position.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "heed/layer/embedding.h"
#include "heed/layer/linear.h"
#include "heed/layer/norm.h"

namespace heed::embed {

/// In the place of an id: a token that is not known yet.
inline constexpr int32_t kBlank = -1;

struct Options {
  int64_t vocabulary = 0;
  int64_t width = 0;
  /// Added to the vectors: none, sinusoidal (Vaswani et al. 2017) or learned (Gehring et al. 2017).
  std::string positions = "none";
  int64_t max_length = 512;  // learned positions: the longest sequence
  bool scaled = false;       // times sqrt(width), as beside positions.  Vaswani et al. 2017, section 3.4
  int64_t table_width = 0;   // of the table, the positions and the norm; a layer widens what they give. 0: `width`
  bool blank = false;        // kBlank may stand in the place of an id, and has a vector of its own
  bool normed = false;       // a norm, "norm", of the vectors with their positions
  NormOptions norm = {};
  float dropout = 0.0f;
};

/// Threads: many may use it at once, each with its own tape.
class Embed {
 public:
  Embed() = default;
  /// Parameters: "weight" [vocabulary, table_width]; with learned positions "position" [max_length, table_width]; with
  /// a blank "blank" [1, table_width]; with another width of the table the layer "widen". `shared`: the table of
  /// another, for tied embeddings; then "weight" is not made.
  Embed(const Scope& scope, const Options& options, Parameter* shared = nullptr);

  /// ids [tokens], packed by `offsets` -> [tokens, width]. The first token of each sequence is at position `first`.
  Packed operator()(Tape& tape, std::span<const int32_t> ids, const Offsets& offsets, int64_t first = 0) const;

  Parameter* table() const { return table_.weight; }
  /// The most tokens of a sequence: learned positions are limited.
  int64_t max_positions() const { return positions_ ? options_.max_length : std::numeric_limits<int64_t>::max(); }

 private:
  Tensor vectors(Tape& tape, std::span<const int32_t> ids) const;

  Options options_;
  Embedding table_;
  Parameter* positions_ = nullptr;
  Parameter* blank_ = nullptr;
  RowNorm norm_;
  Linear widen_;
};

/// PE(p, 2i) = sin(p / 10000^(2i/d)), PE(p, 2i+1) = cos(the same), of the places p in each sequence, the first at
/// `first`
/// -> [tokens, width], without a gradient.  Vaswani et al. 2017, section 3.5
Tensor sinusoids_of(Tape& tape, const Offsets& offsets, int64_t width, int64_t first = 0);

}  // namespace heed::embed
