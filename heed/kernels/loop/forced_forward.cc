#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/loop/forced_forward.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>

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

void Gradient(const Tile& t, const ForcedTiles& kept, float* after, float* carry) {
  const F32 d;
  const float* score = t.in(kept.score).at;
  const float* before = t.in(kept.before).at;
  // With c the state before a query and c' the state after it: how much of e^c' the query's e brought, and how much was
  // there. Both are at most 1 at any size of score.
  constexpr int kChunk = 64;
  float brought[kChunk + kLanes], there[kChunk + kLanes], next[kChunk + kLanes];
  for (int r = 0; r < t.keys; ++r, score += t.stride, before += t.stride) {
    float state = after[r], sum = carry[r];
    for (int last = t.queries, first = 0; last > 0; last = first) {
      first = (last - 1) / kChunk * kChunk;
      const int count = last - first;
      std::copy_n(before + first + 1, count - 1, next);
      next[count - 1] = state;
      std::copy_n(score + first, count, brought);
      std::copy_n(before + first, count, there);
      for (int c = 0; c < count; c += kLanes) {
        const V32 whole = hn::LoadU(d, next + c);
        hn::StoreU(Exp(hn::Sub(hn::LoadU(d, brought + c), whole)), d, brought + c);
        hn::StoreU(Exp(hn::Sub(hn::LoadU(d, there + c), whole)), d, there + c);
      }
      for (int c = count - 1; c >= 0; --c) {
        if (score[first + c] == kMinusInfinity) continue;
        float& g = t.at[r * t.stride + first + c];
        const float shifted_gradient = g;
        g -= brought[c] * sum;
        sum = before[first + c] == kMinusInfinity ? 0.0f : shifted_gradient + sum * there[c];
      }
      state = before[first];
    }
    after[r] = state;
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
