// Forced-forward (temporal) attention, Paulus et al. 2018: score_ti - C_ti, C_ti = log sum_{u < t} exp(score_ui) over
// visible pairs. The state of a column is C.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/column/forced_forward.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <limits>

#include "heed/kernels/attention.h"
#include "heed/kernels/column/column.h"
#include "heed/kernels/loop/plan.h"
#include "heed/kernels/loop/sequence.h"
#include "heed/kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Shifts the scores of a tile and moves `column` [tile.keys] on: C before the first lane -> C after the last one. Where
// not null, the tile buffers `kept_score` and `kept_before` receive e_ti and C_ti. `turned`: scratch of [queries,
// keys]. The running sum goes from query to query, so here vectors lie along the keys: the tile is transposed, scanned,
// and transposed back.
void Shift(const Tile& t, float* column, float* kept_score, float* kept_before, float* turned) {
  const F32 d;
  const size_t stride = PadToLanes(t.keys);
  for (int r = 0; r < t.keys; ++r)
    for (int c = 0; c < t.queries; ++c) turned[c * stride + r] = t.at[r * t.stride + c];
  float* before = kept_before ? t.in(kept_before).at : nullptr;
  if (kept_score)
    for (int r = 0; r < t.keys; ++r) std::copy_n(t.at + r * t.stride, t.queries, t.in(kept_score).at + r * t.stride);
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

// d' -> d on a tile, from the last lane to the first.
//   d_ti = d'_ti - exp(e_ti - C+_ti) R_ti,   R of the query before = d'_ti + R_ti exp(C_ti - C+_ti)
// C+ is C after t; `carry` [tile.keys] holds R, minus the gradient of C; `after` [tile.keys] holds C after the tile's
// last lane and is moved back to C before its first.
void Gradient(const Tile& t, float* kept_score, float* kept_before, float* after, float* carry) {
  const F32 d;
  const float* score = t.in(kept_score).at;
  const float* before = t.in(kept_before).at;
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
namespace {
HWY_EXPORT(Shift);
HWY_EXPORT(Gradient);

constexpr float kNothingYet = -std::numeric_limits<float>::infinity();

int64_t blocks_of(const Sequence& s, int width) { return (s.queries + width - 1) / width; }

/// Floats that are saved of a sequence: a row of Tk for each query block of each head.
int64_t saved_floats(const Problem& p, const Sequence& s, int width) {
  return p.shape.heads * blocks_of(s, width) * s.keys;
}

class ForcedForwardColumns final : public ColumnKernel {
 public:
  ForcedForwardColumns(const Problem& p, bool backward) : p_(p), geometry_(geometry(p)), backward_(backward) {}

  size_t scratch_floats() const override {
    return turned_floats() + column_floats() + (backward_ ? 2 * tile_floats() : 0);
  }

  void begin_forward(const Outputs& out, CallArena& arena) override {
    save_ = out.forced_saved;
    state_ = p_.forced_forward.column_lse;
    if (state_) return;
    const size_t columns = static_cast<size_t>(column_count(p_));
    state_ = arena.array<float>(columns);
    std::fill_n(state_, columns, kNothingYet);
  }

  void begin_again(const Outputs& from) override { saved_ = from.forced_saved; }

  void begin_backward(const BackwardInputs& from, const Gradients& grad, CallArena& arena) override {
    saved_ = from.forced_saved;
    d_first_ = grad.d_column_lse;
    const int64_t columns = column_count(p_);
    carry_ = arena.array<float>(static_cast<size_t>(columns));
    if (from.d_column_lse)
      for (int64_t n = 0; n < columns; ++n) carry_[n] = -from.d_column_lse[n];
  }

  /// The gradient of the state before the first query. If that state was empty, nothing depends on it.
  void finish_backward() const override {
    if (!d_first_) return;
    for (int64_t n = 0; n < column_count(p_); ++n)
      d_first_[n] = p_.forced_forward.column_lse[n] == kNothingYet ? 0.0f : 0.0f - carry_[n];
  }

  void forward(const Tile& t, const Sequence& s, float* scratch) const override {
    float* column = state_ + column_index(p_, s, t.batch, t.head) + t.key;
    if (save_) std::copy_n(column, t.keys, save_ + saved_index(t));
    HWY_DYNAMIC_DISPATCH(Shift)(t, column, nullptr, nullptr, scratch);
  }

  // The column in scratch: from the state before the block, which the forward saved, to the state after it.
  void again(const Tile& t, const Sequence&, float* scratch) const override {
    float* column = scratch + turned_floats();
    std::copy_n(saved_ + saved_index(t), t.keys, column);
    float* score = backward_ ? kept_score(scratch) : nullptr;
    float* before = backward_ ? kept_before(scratch) : nullptr;
    HWY_DYNAMIC_DISPATCH(Shift)(t, column, score, before, scratch);
  }

  void backward(const Tile& d, const Sequence& s, float* scratch) const override {
    float* carry = carry_ + column_index(p_, s, d.batch, d.head) + d.key;
    float* column = scratch + turned_floats();
    HWY_DYNAMIC_DISPATCH(Gradient)(d, kept_score(scratch), kept_before(scratch), column, carry);
  }

 private:
  // Scratch: a turned tile, whose keys are padded to whole vectors; the state of a block's columns; backward: two
  // tiles.
  size_t turned_floats() const { return static_cast<size_t>(geometry_.stride) * (geometry_.keys + 64); }
  size_t column_floats() const { return (static_cast<size_t>(geometry_.keys) + 15) / 16 * 16; }
  size_t tile_floats() const { return static_cast<size_t>(geometry_.keys) * geometry_.stride; }
  float* kept_score(float* scratch) const { return scratch + turned_floats() + column_floats(); }
  float* kept_before(float* scratch) const { return kept_score(scratch) + tile_floats(); }

  /// Where the state that the tile's queries found was saved.
  int64_t saved_index(const Tile& t) const {
    int64_t index = 0;
    for (int64_t before = 0; before < t.batch; ++before)
      index += saved_floats(p_, sequence(p_, before), geometry_.width);
    const Sequence s = sequence(p_, t.batch);
    const int64_t block = t.head * blocks_of(s, geometry_.width) + t.query / geometry_.width;
    return index + block * s.keys + t.key;
  }

  const Problem& p_;
  const Geometry geometry_;
  bool backward_;
  float* state_ = nullptr;        // forward
  float* save_ = nullptr;         // ... to there
  const float* saved_ = nullptr;  // again, backward
  float* carry_ = nullptr;        // backward: minus the gradient of the state
  float* d_first_ = nullptr;      // ... to there
};

}  // namespace

bool has_column_state(const Problem& p) { return p.forced_forward.on; }

ArenaPtr<ColumnKernel> make_column(const Problem& p, bool backward, CallArena& arena) {
  if (!has_column_state(p)) return nullptr;
  return arena.make<ForcedForwardColumns>(p, backward);
}

int64_t forced_saved_floats(const Problem& p) {
  if (!has_column_state(p)) return 0;
  int64_t total = 0;
  const int width = geometry(p).width;
  for (int64_t b = 0; b < p.shape.batch; ++b) total += saved_floats(p, sequence(p, b), width);
  return total;
}
}  // namespace heed::kernels
#endif
