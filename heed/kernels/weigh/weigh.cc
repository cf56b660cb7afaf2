#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/weigh/weigh.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/loop/row_bits.h"
#include "heed/kernels/loop/sequence.h"
#include "heed/kernels/simd/random-inl.h"
#include "heed/kernels/weigh/weigh.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

class Weigh final : public WeighKernel {
 public:
  explicit Weigh(const Problem& p)
      : p_(p),
        bell_(p.region.centre && p.region.centre_sigma > 0.0f),
        gaussian_(bell_ || (p.region.centre && p.region.centre_picks)) {
    keep_ = 1.0f - p.dropout.p;
    // Drop where the 32 random bits are below p * 2^32.
    threshold_ =
        static_cast<uint32_t>(std::min(4294967295.0, std::floor(static_cast<double>(p.dropout.p) * 4294967296.0)));
  }

  void load_rows(const BlockTask& t, RowState& rows) const override {
    for (int c = 0; c < t.count; ++c) {
      if (p_.dropout.p > 0.0f) {
        const uint64_t bits = row_bits(p_.dropout.seed, kDropoutStream, t.batch, t.head, t.first_query + c);
        rows.dropout0[c] = static_cast<uint32_t>(bits);
        rows.dropout1[c] = static_cast<uint32_t>(bits >> 32);
      }
      if (gaussian_) rows.centre[c] = p_.region.centre[row_index(p_, t.batch, t.head, t.first_query + c)];
    }
  }

  void forward(const Tile& w, const Sequence& sequence, RowState& rows, bool show) const override {
    const F32 d;
    const float* costs = guide_costs(w);
    for (int r = 0; r < w.keys; ++r)
      for (int c = 0; c < w.queries; c += kLanes) {
        float* at = w.at + r * w.stride + c;
        V32 a = hn::LoadU(d, at);
        if (gaussian_) a = hn::Mul(a, gaussian(w, r, c, rows));
        if (p_.guide.on()) {
          float* cost = rows.cost + w.lane + c;
          hn::StoreU(hn::MulAdd(a, guide(w, r, c, sequence, costs), hn::LoadU(d, cost)), d, cost);
        }
        if (p_.dropout.p > 0.0f && !show) a = hn::Mul(a, kept(w, r, c, rows));
        hn::StoreU(a, d, at);
      }
  }

  //   d_a = kept * (d_out . v) + d_cost G,   d_w = d_a * gaussian,   d_centre += d_a a (j - centre) / sigma^2
  void backward(const Tile& w, const Tile& to, const Tile& g, const Sequence& sequence, RowState& rows) const override {
    const F32 d;
    const float* costs = guide_costs(w);
    const float inverse_variance = bell_ ? 1.0f / (p_.region.centre_sigma * p_.region.centre_sigma) : 0.0f;
    for (int r = 0; r < w.keys; ++r)
      for (int c = 0; c < w.queries; c += kLanes) {
        float* d_at = g.at + r * g.stride + c;
        V32 a = hn::LoadU(d, w.at + r * w.stride + c), d_a = hn::LoadU(d, d_at), after = a;
        const V32 bell = gaussian_ ? gaussian(w, r, c, rows) : hn::Set(d, 1.0f);
        if (gaussian_) after = a = hn::Mul(a, bell);
        if (p_.dropout.p > 0.0f) {
          const V32 factor = kept(w, r, c, rows);
          after = hn::Mul(a, factor);
          d_a = hn::Mul(d_a, factor);
        }
        if (p_.guide.on())
          d_a = hn::MulAdd(hn::LoadU(d, rows.d_cost + w.lane + c), guide(w, r, c, sequence, costs), d_a);
        if (gaussian_) {
          float* sum = rows.d_centre + w.lane + c;
          const V32 pull = hn::Mul(distance(w, r, c, rows), hn::Set(d, inverse_variance));
          // A weight of 0 (outside the window) has no pull, however far it is.
          const V32 term = hn::IfThenElseZero(hn::Ne(a, hn::Zero(d)), hn::Mul(hn::Mul(d_a, a), pull));
          hn::StoreU(hn::Add(hn::LoadU(d, sum), term), d, sum);
          d_a = hn::Mul(d_a, bell);
        }
        hn::StoreU(after, d, to.at + r * to.stride + c);
        hn::StoreU(d_a, d, d_at);
      }
  }

 private:
  static constexpr uint64_t kDropoutStream = 1;

  /// j - centre
  static V32 distance(const Tile& t, int r, int c, const RowState& rows) {
    const F32 d;
    return hn::Sub(hn::Set(d, static_cast<float>(t.key + r)), hn::LoadU(d, rows.centre + t.lane + c));
  }

  /// With centre_picks: 0 outside the window, and without a Gaussian 1 inside.
  V32 gaussian(const Tile& t, int r, int c, const RowState& rows) const {
    const F32 d;
    const V32 x = distance(t, r, c, rows);
    V32 bell = hn::Set(d, 1.0f);
    if (bell_) {
      const float factor = -0.5f / (p_.region.centre_sigma * p_.region.centre_sigma);
      bell = Exp(hn::Mul(hn::Mul(x, x), hn::Set(d, factor)));
    }
    if (!p_.region.centre_picks) return bell;
    return hn::IfThenElseZero(hn::Le(hn::Abs(x), hn::Set(d, p_.region.centre_half_width)), bell);
  }

  /// The cost tensor at the tile's first pair, or null.
  const float* guide_costs(const Tile& t) const {
    return p_.guide.tensor ? p_.guide.tensor + t.row_in(pair_strides(p_.guide)) + t.key * p_.guide.key : nullptr;
  }

  V32 guide(const Tile& t, int r, int c, const Sequence& s, const float* costs) const {
    const F32 d;
    const I32 di;
    if (p_.guide.aligned_offsets) return links(t, r, c);
    if (costs) {
      float values[kLanes];
      const float* at = costs + r * p_.guide.key;
      for (int i = 0; i < static_cast<int>(kLanes); ++i)
        values[i] = c + i < t.queries ? at[(c + i) * p_.guide.query] : 0.0f;
      return hn::LoadU(d, values);
    }
    // G = 1 - exp(-(i/Tq - j/Tk)^2 / (2 sigma^2))
    const V32 i = hn::ConvertTo(d, hn::Iota(di, static_cast<int32_t>(t.query + c)));
    const V32 j = hn::Set(
        d, static_cast<float>(static_cast<double>(t.key + r) / static_cast<double>(std::max<int64_t>(s.live_keys, 1))));
    const V32 x = hn::Sub(hn::Div(i, hn::Set(d, static_cast<float>(std::max<int64_t>(s.live_queries, 1)))), j);
    const float factor = -0.5f / (p_.guide.sigma * p_.guide.sigma);
    return hn::Sub(hn::Set(d, 1.0f), Exp(hn::Mul(hn::Mul(x, x), hn::Set(d, factor))));
  }

  /// 1 for the queries that the key is linked to. Queries have few links, so their lists are looked through.
  V32 links(const Tile& t, int r, int c) const {
    const int64_t first = p_.ragged.query_offsets ? t.packed_query : t.batch * p_.shape.queries + t.query;
    const int64_t* offsets = p_.guide.aligned_offsets + first + c;
    const auto key = static_cast<int32_t>(t.key + r);
    float values[kLanes] = {};
    const int count = std::min(static_cast<int>(kLanes), t.queries - c);
    for (int i = 0; i < count; ++i)
      for (int64_t n = offsets[i]; n < offsets[i + 1]; ++n)
        if (p_.guide.aligned_keys[n] == key) values[i] = 1.0f;
    return hn::LoadU(F32(), values);
  }

  /// 0 or 1 / (1 - p)
  V32 kept(const Tile& t, int r, int c, const RowState& rows) const {
    const F32 d;
    const U32 du;
    const auto bits =
        RandomBits(hn::LoadU(du, rows.dropout0 + t.lane + c), hn::LoadU(du, rows.dropout1 + t.lane + c), t.key + r);
    // Unsigned comparison by way of the sign bit.
    const I32 di;
    const auto flip = hn::Set(du, 0x80000000u);
    const auto drop =
        hn::Lt(hn::BitCast(di, hn::Xor(bits, flip)), hn::BitCast(di, hn::Set(du, threshold_ ^ 0x80000000u)));
    return hn::IfThenZeroElse(hn::RebindMask(d, drop), hn::Set(d, 1.0f / keep_));
  }

  const Problem& p_;
  bool bell_, gaussian_;  // weights times a Gaussian; times a Gaussian or the window
  float keep_;
  uint32_t threshold_;
};

ArenaPtr<WeighKernel> MakeWeigh(const Problem& p, CallArena& arena) { return arena.make<Weigh>(p); }

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(MakeWeigh);
bool weighs(const Problem& p) {
  const bool centred = p.region.centre && (p.region.centre_sigma > 0.0f || p.region.centre_picks);
  return centred || p.guide.on() || p.dropout.p > 0.0f;
}
ArenaPtr<WeighKernel> make_weigh(const Problem& p, CallArena& arena) {
  if (!weighs(p)) return nullptr;
  return HWY_DYNAMIC_DISPATCH(MakeWeigh)(p, arena);
}
}  // namespace heed::kernels
#endif
