// sparsemax (Martins and Astudillo 2016) and 1.5-entmax (Peters et al. 2019): exact zeros, found by a threshold per
// row.
//   sparsemax: w = max(z - tau, 0),    z = s - max s         d_s = [w > 0] (d_w - mean of d_w over the support)
//   entmax15:  w = max(z - tau, 0)^2,  z = (s - max s) / 2   d_s = sqrt(w) (d_w - sum sqrt(w) d_w / sum sqrt(w))
// In both tau lies in [-1, 0], and sum w as a function of tau is convex and falls: Newton's steps from -1 rise towards
// the root and never pass it. A last step in closed form over the support that was found ends on it, from either side:
// of many equal scores tau is about -1/n, and the first step, to -1 + (1 - 1/n), rounds that to 2^-24 of 1. For the
// same reason the sums are made in short parts, which are added with compensation for the rounding errors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/normalise/sparse.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/normalise/normaliser.h"
#include "heed/kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

class Sparse final : public NormaliserKernel {
 public:
  explicit Sparse(const Problem& p) : square_(p.normalise.kind == Normaliser::entmax15), half_(square_ ? 0.5f : 1.0f) {}

  const char* explain() const override {
    return "the normaliser must see a whole row before its first weight, so a block's scores are kept in a strip";
  }
  bool whole_rows() const override { return true; }
  bool gradient_reads_scores() const override { return false; }
  bool gradient_needs_pass() const override { return true; }

  void begin(RowState& rows, int64_t, int count) const override {
    for (int c = 0; c < count; ++c) rows.shift[c] = kMinusInfinity;
  }
  bool absorb(const Tile&, RowState&) const override { return false; }

  // rows.shift = max s, rows.inverse = tau. Pieces of one lane share their lanes or are disjoint in them.
  void solve(const Tile* pieces, int piece_count, RowState& rows, int count) const override {
    const F32 d;
    for (int c = 0; c < count; c += kLanes) {
      // f(score) of all keys; part() after every few.
      const auto over = [&](auto&& f, auto&& part) HWY_ATTR {
        for (int i = 0; i < piece_count; ++i) {
          const Tile& t = pieces[i];
          if (c < t.lane || c >= t.lane + t.queries) continue;
          const float* at = t.at + (c - t.lane);
          for (int r = 0; r < t.keys;) {
            const int last = std::min(r + kPart, t.keys);
            for (; r < last; ++r) f(hn::LoadU(d, at + r * t.stride));
            part();
          }
        }
      };
      V32 most = hn::Set(d, kMinusInfinity);
      over([&](V32 s) HWY_ATTR { most = hn::Max(most, s); }, [] {});
      const V32 base = hn::IfThenElse(hn::Eq(most, hn::Set(d, kMinusInfinity)), hn::Zero(d), most);
      const V32 half = hn::Set(d, half_);
      V32 tau = hn::Set(d, -1.0f);
      for (int step = 0; step < 64; ++step) {
        LongSum value;
        V32 slope = hn::Zero(d);
        over(
            [&](V32 s) HWY_ATTR {
              const V32 above = hn::Max(hn::Zero(d), hn::Sub(hn::Mul(hn::Sub(s, base), half), tau));
              if (square_) {
                value.part = hn::MulAdd(above, above, value.part);
                slope = hn::MulAdd(hn::Set(d, 2.0f), above, slope);
              } else {
                value.part = hn::Add(value.part, above);
                slope = hn::Add(slope, hn::IfThenElseZero(hn::Gt(above, hn::Zero(d)), hn::Set(d, 1.0f)));
              }
            },
            [&]() HWY_ATTR { value.close(); });
        const V32 rise = hn::Div(hn::Sub(value.total(), hn::Set(d, 1.0f)), hn::Max(slope, hn::Set(d, 1e-30f)));
        // Never backwards: rounding near the root must not make the steps oscillate.
        const V32 next = hn::Max(tau, hn::Add(tau, hn::IfThenElseZero(hn::Gt(slope, hn::Zero(d)), rise)));
        const bool done = hn::AllTrue(d, hn::Eq(next, tau));
        tau = next;
        if (done) break;
      }
      tau = polish(over, base, tau);
      hn::StoreU(base, d, rows.shift + c);
      hn::StoreU(tau, d, rows.inverse + c);
    }
  }

  void finish(RowState&, int) const override {}

  void weights(const Tile& s, const Tile& w, const RowState& rows) const override {
    const F32 d;
    const V32 half = hn::Set(d, half_);
    for (int c = 0; c < s.queries; c += kLanes) {
      const V32 shift = hn::LoadU(d, rows.shift + s.lane + c);
      const V32 tau = hn::LoadU(d, rows.inverse + s.lane + c);
      for (int r = 0; r < s.keys; ++r) {
        const V32 z = hn::Mul(hn::Sub(hn::LoadU(d, s.at + r * s.stride + c), shift), half);
        const V32 above = AtLeast(hn::Zero(d), hn::Sub(z, tau));
        hn::StoreU(square_ ? hn::Mul(above, above) : above, d, w.at + r * w.stride + c);
      }
    }
  }

  void accumulate(const Tile&, const Tile& w, const Tile& g, RowState& rows) const override {
    const F32 d;
    for (int c = 0; c < g.queries; c += kLanes) {
      V32 sum = hn::Zero(d), weighted = hn::Zero(d);  // of the tile first: a long sum pair by pair would round more
      for (int r = 0; r < g.keys; ++r) {
        const V32 slope = slope_of(hn::LoadU(d, w.at + r * w.stride + c));
        sum = hn::Add(sum, slope);
        weighted = hn::MulAdd(slope, hn::LoadU(d, g.at + r * g.stride + c), weighted);
      }
      hn::StoreU(hn::Add(hn::LoadU(d, rows.slope_sum + g.lane + c), sum), d, rows.slope_sum + g.lane + c);
      hn::StoreU(hn::Add(hn::LoadU(d, rows.slope_d + g.lane + c), weighted), d, rows.slope_d + g.lane + c);
    }
  }

  void gradient(const Tile&, const Tile& w, const Tile& g, const RowState& rows) const override {
    const F32 d;
    for (int c = 0; c < g.queries; c += kLanes) {
      const V32 delta = hn::LoadU(d, rows.delta + g.lane + c);
      for (int r = 0; r < g.keys; ++r) {
        float* at = g.at + r * g.stride + c;
        const V32 slope = slope_of(hn::LoadU(d, w.at + r * w.stride + c));
        hn::StoreU(hn::Mul(slope, hn::Sub(hn::LoadU(d, at), delta)), d, at);
      }
    }
  }

 private:
  V32 slope_of(V32 weight) const {
    const F32 d;
    return square_ ? hn::Sqrt(weight) : hn::IfThenElseZero(hn::Gt(weight, hn::Zero(d)), hn::Set(d, 1.0f));
  }

  /// A sum of many terms, part by part; what adding a part rounds off is kept (Neumaier 1974).
  struct LongSum {
    V32 part, sum, lost;
    LongSum() : part(hn::Zero(F32())), sum(part), lost(part) {}
    void close() {
      const F32 d;
      const V32 next = hn::Add(sum, part);
      const V32 larger = hn::IfThenElse(hn::Ge(hn::Abs(sum), hn::Abs(part)), sum, part);
      const V32 smaller = hn::IfThenElse(hn::Ge(hn::Abs(sum), hn::Abs(part)), part, sum);
      lost = hn::Add(lost, hn::Add(hn::Sub(larger, next), smaller));
      sum = next;
      part = hn::Zero(d);
    }
    V32 total() const { return hn::Add(sum, lost); }
  };

  // Over the support S of size n, with y = z - tau0:
  //   sparsemax: sum (y - t) = 1 gives t = (sum y - 1) / n
  //   entmax15:  sum (y - t)^2 = 1 gives t = mean - sqrt(1/n - variance)
  template <class Over>
  V32 polish(const Over& over, V32 base, V32 tau) const {
    const F32 d;
    const V32 half = hn::Set(d, half_), one = hn::Set(d, 1.0f);
    V32 n = hn::Zero(d);
    LongSum sum;
    const auto inside = [&](V32 s) HWY_ATTR { return hn::Sub(hn::Mul(hn::Sub(s, base), half), tau); };
    over(
        [&](V32 s) HWY_ATTR {
          const V32 y = inside(s);
          const auto in = hn::Gt(y, hn::Zero(d));
          n = hn::Add(n, hn::IfThenElseZero(in, one));
          sum.part = hn::Add(sum.part, hn::IfThenElseZero(in, y));
        },
        [&]() HWY_ATTR { sum.close(); });
    const V32 some = hn::Max(n, one);
    V32 step;
    if (square_) {
      const V32 mean = hn::Div(sum.total(), some);
      LongSum spread;
      over(
          [&](V32 s) HWY_ATTR {
            const V32 y = inside(s);
            const V32 off = hn::Sub(y, mean);
            spread.part = hn::Add(spread.part, hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), hn::Mul(off, off)));
          },
          [&]() HWY_ATTR { spread.close(); });
      const V32 inner = hn::Div(hn::Max(hn::Zero(d), hn::Sub(one, spread.total())), some);
      step = hn::Sub(mean, hn::Sqrt(inner));
    } else {
      step = hn::Div(hn::Sub(sum.total(), one), some);
    }
    return hn::IfThenElse(hn::Gt(n, hn::Zero(d)), hn::Add(tau, step), tau);
  }

  static constexpr int kPart = 16;  // terms that are added plainly

  bool square_;
  float half_;
};

ArenaPtr<NormaliserKernel> MakeSparse(const Problem& p, CallArena& arena) { return arena.make<Sparse>(p); }

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(MakeSparse);
ArenaPtr<NormaliserKernel> make_sparse(const Problem& p, CallArena& arena) {
  return HWY_DYNAMIC_DISPATCH(MakeSparse)(p, arena);
}
}  // namespace heed::kernels
#endif
