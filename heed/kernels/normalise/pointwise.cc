// sigmoid, relu, identity: each weight from its own score, optionally divided by the number n of visible keys.
//   sigmoid: w = 1 / (1 + e^-s) / n      d_s = w (1 - sigmoid(s)) d_w
//   relu:    w = max(s, 0) / n           d_s = [s > 0] d_w / n
//   identity: w = s / n                  d_s = d_w / n
// A hidden pair has the score -inf and the weight 0 in all three.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/normalise/pointwise.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "heed/kernels/normalise/normaliser.h"
#include "heed/kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

class Pointwise final : public NormaliserKernel {
 public:
  explicit Pointwise(const Problem& p) : kind_(p.normalise.kind), divide_(p.normalise.divide_by_visible) {}

  const char* explain() const override { return "each weight follows from its own score, tile by tile"; }
  bool whole_rows() const override { return false; }
  bool gradient_reads_scores() const override { return true; }

  void begin(RowState& rows, int64_t, int count) const override {
    for (int c = 0; c < count; ++c) rows.norm[c] = rows.shift[c] = 0.0f;
  }

  bool absorb(const Tile& t, RowState& rows) const override {
    const F32 d;
    if (divide_)
      for (int c = 0; c < t.queries; c += kLanes) {
        V32 visible = hn::LoadU(d, rows.norm + t.lane + c);
        for (int r = 0; r < t.keys; ++r) {
          const auto hidden = hn::Eq(hn::LoadU(d, t.at + r * t.stride + c), hn::Set(d, kMinusInfinity));
          visible = hn::Add(visible, hn::IfThenZeroElse(hidden, hn::Set(d, 1.0f)));
        }
        hn::StoreU(visible, d, rows.norm + t.lane + c);
      }
    apply(t, t, nullptr);
    return false;
  }

  void finish(RowState& rows, int count) const override {
    for (int c = 0; c < count; ++c)
      rows.inverse[c] = !divide_ ? 1.0f : rows.norm[c] > 0.0f ? 1.0f / rows.norm[c] : 0.0f;
  }

  void weights(const Tile& s, const Tile& w, const RowState& rows) const override {
    apply(s, w, rows.inverse + s.lane);
  }

  void gradient(const Tile& s, const Tile& w, const Tile& g, const RowState& rows) const override {
    const F32 d;
    for (int c = 0; c < g.queries; c += kLanes) {
      const V32 inverse = hn::LoadU(d, rows.inverse + g.lane + c);
      for (int r = 0; r < g.keys; ++r) {
        const V32 score = hn::LoadU(d, s.at + r * s.stride + c);
        const V32 weight = hn::LoadU(d, w.at + r * w.stride + c);
        float* at = g.at + r * g.stride + c;
        V32 slope = inverse;
        if (kind_ == Normaliser::sigmoid)
          slope = hn::Mul(weight, Sigmoid(hn::Neg(score)));
        else if (kind_ == Normaliser::relu)
          slope = hn::IfThenElseZero(hn::Gt(score, hn::Zero(d)), inverse);
        else
          slope = hn::IfThenZeroElse(hn::Eq(score, hn::Set(d, kMinusInfinity)), inverse);
        hn::StoreU(hn::Mul(slope, hn::LoadU(d, at)), d, at);
      }
    }
  }

 private:
  void apply(const Tile& s, const Tile& w, const float* inverse) const {
    const F32 d;
    for (int c = 0; c < s.queries; c += kLanes) {
      const V32 factor = inverse ? hn::LoadU(d, inverse + c) : hn::Set(d, 1.0f);
      for (int r = 0; r < s.keys; ++r) {
        const V32 score = hn::LoadU(d, s.at + r * s.stride + c);
        V32 weight;
        if (kind_ == Normaliser::sigmoid)
          weight = Sigmoid(score);
        else if (kind_ == Normaliser::relu)
          weight = AtLeast(hn::Zero(d), score);
        else
          weight = hn::IfThenZeroElse(hn::Eq(score, hn::Set(d, kMinusInfinity)), score);
        hn::StoreU(hn::Mul(weight, factor), d, w.at + r * w.stride + c);
      }
    }
  }

  Normaliser kind_;
  bool divide_;
};

ArenaPtr<NormaliserKernel> MakePointwise(const Problem& p, CallArena& arena) { return arena.make<Pointwise>(p); }

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(MakePointwise);
ArenaPtr<NormaliserKernel> make_pointwise(const Problem& p, CallArena& arena) {
  return HWY_DYNAMIC_DISPATCH(MakePointwise)(p, arena);
}
}  // namespace heed::kernels
#endif
