#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/loop/forced_forward.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/attention.h"
#include "heed/kernels/loop/forced_forward.h"
#include "heed/kernels/loop/plan.h"
#include "heed/kernels/loop/sequence.h"
#include "heed/kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// The running sum goes from query to query, so here vectors lie along the keys: the tile is turned, scanned, turned
// back.
void Shift(const Tile& t, float* column, const ForcedTiles* kept, float* turned) {
  const F32 d;
  const size_t stride = PadToLanes(t.keys);
  for (int r = 0; r < t.keys; ++r)
    for (int c = 0; c < t.queries; ++c) turned[c * stride + r] = t.at[r * t.stride + c];
  float* before = kept ? t.in(kept->before).at : nullptr;
  if (kept)
    for (int r = 0; r < t.keys; ++r) std::copy_n(t.at + r * t.stride, t.queries, t.in(kept->score).at + r * t.stride);
  for (int r = 0; r < t.keys; r += kLanes) {
    float state[kLanes];
    const int count = std::min<int>(kLanes, t.keys - r);
    for (int i = 0; i < static_cast<int>(kLanes); ++i) state[i] = i < count ? column[r + i] : 0.0f;
    V32 so_far = hn::LoadU(d, state);
    const V32 nothing = hn::Set(d, kMinusInfinity);
    for (int c = 0; c < t.queries; ++c) {
      float* at = turned + c * stride + r;
      const V32 s = hn::LoadU(d, at);
      const auto hidden = hn::Eq(s, nothing);
      const auto first = hn::Eq(so_far, nothing);
      if (before) {
        hn::StoreU(so_far, d, state);
        for (int i = 0; i < count; ++i) before[(r + i) * t.stride + c] = state[i];
      }
      hn::StoreU(hn::IfThenElse(hn::Or(hidden, first), s, hn::Sub(s, so_far)), d, at);
      // log(e^a + e^b) = max + log1p(e^-|a - b|)
      const V32 sum = hn::Add(hn::Max(s, so_far), hn::Log1p(d, Exp(hn::Neg(hn::Abs(hn::Sub(s, so_far))))));
      so_far = hn::IfThenElse(hidden, so_far, hn::IfThenElse(first, s, sum));
    }
    hn::StoreU(so_far, d, state);
    for (int i = 0; i < count; ++i) column[r + i] = state[i];
  }
  for (int r = 0; r < t.keys; ++r)
    for (int c = 0; c < t.queries; ++c) t.at[r * t.stride + c] = turned[c * stride + r];
}

void Gradient(const Tile& d, const ForcedTiles& kept, float* after, float* carry) {
  const float* score = d.in(kept.score).at;
  const float* before = d.in(kept.before).at;
  for (int r = 0; r < d.keys; ++r) {
    float next = after[r], sum = carry[r];
    for (int c = d.queries - 1; c >= 0; --c) {
      const float e = score[r * d.stride + c];
      if (e == kMinusInfinity) continue;
      const float c_before = before[r * d.stride + c];
      float& g = d.at[r * d.stride + c];
      const float shifted_gradient = g;
      // e and c_before are at most `next`, as they stand: both factors are at most 1 at any size of score.
      g -= std::exp(e - next) * sum;
      sum = c_before == kMinusInfinity ? 0.0f : shifted_gradient + sum * std::exp(c_before - next);
      next = c_before;
    }
    after[r] = next;
    carry[r] = sum;
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(Shift);
HWY_EXPORT(Gradient);

void forced_forward_shift(const Tile& t, float* column, const ForcedTiles* kept, float* transposed) {
  HWY_DYNAMIC_DISPATCH(Shift)(t, column, kept, transposed);
}
void forced_forward_gradient(const Tile& d, const ForcedTiles& kept, float* after, float* carry) {
  HWY_DYNAMIC_DISPATCH(Gradient)(d, kept, after, carry);
}

namespace {
int64_t blocks_of(const Sequence& s, int width) { return (s.queries + width - 1) / width; }
}  // namespace

int64_t forced_saved_index(const Problem& p, int64_t b, int64_t h, int64_t block, int width) {
  int64_t index = 0;
  for (int64_t before = 0; before < b; ++before) {
    const Sequence s = sequence(p, before);
    index += p.shape.heads * blocks_of(s, width) * s.keys;
  }
  const Sequence s = sequence(p, b);
  return index + (h * blocks_of(s, width) + block) * s.keys;
}

int64_t forced_saved_floats(const Problem& p) {
  if (!p.forced_forward.on) return 0;
  int64_t total = 0;
  const int width = geometry(p).width;
  for (int64_t b = 0; b < p.shape.batch; ++b) {
    const Sequence s = sequence(p, b);
    total += p.shape.heads * blocks_of(s, width) * s.keys;
  }
  return total;
}
}  // namespace heed::kernels
#endif
