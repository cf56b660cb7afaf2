#include "heed/kernels/loop/kept_scores.h"

#include <algorithm>

#include "heed/kernels/attention.h"
#include "heed/kernels/loop/sequence.h"
#include "heed/kernels/loop/values.h"
#include "heed/kernels/score/score.h"

namespace heed::kernels {

KeptScores::KeptScores(const Problem& p, float* to, const float* from)
    : longest_((to || from) && kept_scores_floats(p) > 0 ? most_keys(p) : 0) {
  if (longest_ > 0) to_ = to, from_ = from;
}

int64_t KeptScores::place(const Problem& p, const Sequence& s, const Tile& t) const {
  return row_index(p, t.batch, t.head, 0) * longest_ + t.key * s.queries + t.query;
}

void KeptScores::store(const Problem& p, const Sequence& s, const Tile& t) const {
  if (!to_) return;
  float* at = to_ + place(p, s, t);
  for (int r = 0; r < t.keys; ++r) std::copy_n(t.at + r * t.stride, t.queries, at + r * s.queries);
}

void KeptScores::load(const Problem& p, const Sequence& s, const Tile& t) const {
  const float* at = from_ + place(p, s, t);
  const int lanes = vector_lanes(), whole = (t.queries + lanes - 1) / lanes * lanes;
  for (int r = 0; r < t.keys; ++r) {
    float* row = t.at + r * t.stride;
    std::copy_n(at + r * s.queries, t.queries, row);
    std::fill(row + t.queries, row + whole, 0.0f);
  }
}

int64_t kept_scores_floats(const Problem& p) {
  constexpr int64_t kMost = int64_t{1} << 26;  // 256 MB: beyond, memory is dearer than time
  if (!score_entry(p).is_expensive) return 0;
  const int64_t keys = std::max<int64_t>(most_keys(p), 1), rows = row_count(p);
  return rows <= kMost / keys ? rows * keys : 0;
}

}  // namespace heed::kernels
