// Scores that the forward keeps for the backward, where to compute one takes longer than to write and read it.
#pragma once

#include "heed/kernels/loop/tile.h"
#include "heed/kernels/problem.h"

namespace heed::kernels {

/// What a call does with the caller's buffer of scores; by itself: nothing.
///
/// Sequence b of head h has [longest Tk, Tq] floats from row_index(b, h, 0) * longest Tk on, key by key as in a tile.
/// So a pair's place does not depend on how tiles are cut.
class KeptScores {
 public:
  KeptScores() = default;
  /// Either may be null. Where kept_scores_floats() is 0, nothing is kept.
  KeptScores(const Problem& p, float* to, const float* from);

  bool load_instead() const { return from_ != nullptr; }

  /// The tile's scores to their place, if they are to be kept.
  void store(const Problem& p, const Sequence& s, const Tile& t) const;
  /// ... and from there. Unused lanes become 0.
  void load(const Problem& p, const Sequence& s, const Tile& t) const;

 private:
  int64_t place(const Problem& p, const Sequence& s, const Tile& t) const;

  float* to_ = nullptr;
  const float* from_ = nullptr;
  int64_t longest_ = 0;
};

}  // namespace heed::kernels
