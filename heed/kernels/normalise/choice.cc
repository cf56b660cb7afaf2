// Hard attention: weight 1 on one key.
//   argmax:  the best key, the first of equals. Straight-through: d_s as if the weights p were softmax's,
//            d_s = p (d_w - sum_j p_j d_w_j)
//   sampled: a key drawn from softmax without a second pass: argmax of s + Gumbel noise. REINFORCE: the caller passes
//            what each row's log-probability is worth, d_s = d_log_prob ([j chosen] - p)
// Both know the entropy of p and its gradient.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/normalise/choice.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "heed/kernels/loop/row_bits.h"
#include "heed/kernels/normalise/normaliser.h"
#include "heed/kernels/simd/random-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

class Choice final : public NormaliserKernel {
 public:
  Choice(const Problem& p, NormaliserOptions options)
      : sampled_(p.normalise.kind == Normaliser::sampled), seed_(p.normalise.seed), options_(options) {}

  const char* explain() const override {
    return "the normaliser must see a whole row before its first weight, so a block's scores are kept in a strip";
  }
  bool whole_rows() const override { return true; }
  bool gradient_reads_scores() const override { return true; }
  bool gradient_needs_pass() const override { return !sampled_; }

  void load_rows(const BlockTask& t, RowState& rows) const override {
    for (int c = 0; sampled_ && c < t.count; ++c) {
      constexpr uint64_t kGumbelStream = 2;
      const uint64_t bits = row_bits(seed_, kGumbelStream, t.batch, t.head, t.first_query + c);
      rows.gumbel0[c] = static_cast<uint32_t>(bits);
      rows.gumbel1[c] = static_cast<uint32_t>(bits >> 32);
    }
  }

  void begin(RowState& rows, int64_t, int count) const override {
    for (int c = 0; c < count; ++c) {
      rows.shift[c] = kMinusInfinity;
      rows.norm[c] = rows.surprise[c] = 0.0f;
      rows.choice[c] = -1;
    }
  }
  bool absorb(const Tile&, RowState&) const override { return false; }

  void solve(const Tile* pieces, int piece_count, RowState& rows, int count) const override {
    const F32 d;
    const I32 di;
    const U32 du;
    for (int c = 0; c < count; c += kLanes) {
      V32 most = hn::Set(d, kMinusInfinity), best = most;
      auto chosen = hn::Set(di, -1);
      const auto row0 = hn::LoadU(du, rows.gumbel0 + c), row1 = hn::LoadU(du, rows.gumbel1 + c);
      const auto over = [&](auto&& f) HWY_ATTR {
        for (int i = 0; i < piece_count; ++i) {
          const Tile& t = pieces[i];
          if (c < t.lane || c >= t.lane + t.queries) continue;
          for (int r = 0; r < t.keys; ++r) f(hn::LoadU(d, t.at + r * t.stride + (c - t.lane)), t.key + r);
        }
      };
      over([&](V32 s, int64_t key) HWY_ATTR {
        most = hn::Max(most, s);
        V32 rank = s;
        if (sampled_) {
          const V32 u = Uniform(RandomBits(row0, row1, key));
          rank = hn::Sub(s, hn::Log(d, hn::Neg(hn::Log(d, u))));
        }
        const auto better = hn::Gt(rank, best);
        best = hn::IfThenElse(better, rank, best);
        chosen = hn::IfThenElse(hn::RebindMask(di, better), hn::Set(di, static_cast<int32_t>(key)), chosen);
      });
      const V32 base = hn::IfThenElse(hn::Eq(most, hn::Set(d, kMinusInfinity)), hn::Zero(d), most);
      V32 norm = hn::Zero(d), surprise = hn::Zero(d);
      over([&](V32 s, int64_t) HWY_ATTR {
        const V32 x = hn::Sub(s, base);
        const V32 e = Exp(x);
        norm = hn::Add(norm, e);
        surprise = hn::Add(surprise, hn::IfThenElseZero(hn::Gt(e, hn::Zero(d)), hn::Mul(e, x)));
      });
      hn::StoreU(most, d, rows.shift + c);
      hn::StoreU(norm, d, rows.norm + c);
      hn::StoreU(surprise, d, rows.surprise + c);
      hn::StoreU(chosen, di, rows.choice + c);
    }
  }

  void finish(RowState& rows, int count) const override {
    for (int c = 0; c < count; ++c) {
      rows.inverse[c] = rows.norm[c] > 0.0f ? 1.0f / rows.norm[c] : 0.0f;
      if (rows.shift[c] == kMinusInfinity) rows.shift[c] = 0.0f;
    }
  }

  void weights(const Tile& s, const Tile& w, const RowState& rows) const override {
    for (int r = 0; r < s.keys; ++r)
      for (int c = 0; c < s.queries; ++c) w.at[r * w.stride + c] = rows.choice[s.lane + c] == s.key + r ? 1.0f : 0.0f;
  }

  void accumulate(const Tile& s, const Tile&, const Tile& g, RowState& rows) const override {
    const F32 d;
    for (int c = 0; c < g.queries; c += kLanes) {
      V32 weighted = hn::LoadU(d, rows.slope_d + g.lane + c);
      V32 sum = hn::LoadU(d, rows.slope_sum + g.lane + c);
      for (int r = 0; r < g.keys; ++r) {
        const V32 p = probability(s, r, c, rows);
        sum = hn::Add(sum, p);
        weighted = hn::MulAdd(p, hn::LoadU(d, g.at + r * g.stride + c), weighted);
      }
      hn::StoreU(sum, d, rows.slope_sum + g.lane + c);
      hn::StoreU(weighted, d, rows.slope_d + g.lane + c);
    }
  }

  void gradient(const Tile& s, const Tile& w, const Tile& g, const RowState& rows) const override {
    const F32 d;
    for (int c = 0; c < g.queries; c += kLanes) {
      const int lane = g.lane + c;
      const V32 level = hn::Sub(hn::Add(hn::Log(d, hn::Max(hn::LoadU(d, rows.inverse + lane), hn::Set(d, 1e-38f))),
                                        hn::LoadU(d, rows.entropy + lane)),
                                hn::LoadU(d, rows.shift + lane));
      for (int r = 0; r < g.keys; ++r) {
        float* at = g.at + r * g.stride + c;
        const V32 p = probability(s, r, c, rows);
        V32 sum;
        if (sampled_)
          sum = hn::Mul(hn::LoadU(d, rows.d_log_prob + lane), hn::Sub(hn::LoadU(d, w.at + r * w.stride + c), p));
        else
          sum = hn::Mul(p, hn::Sub(hn::LoadU(d, at), hn::LoadU(d, rows.delta + lane)));
        if (options_.d_entropy) {
          const V32 log_and_entropy = hn::Add(hn::LoadU(d, s.at + r * s.stride + c), level);
          const V32 more = hn::Mul(hn::Mul(p, hn::LoadU(d, rows.d_entropy + lane)), log_and_entropy);
          sum = hn::Sub(sum, hn::IfThenElseZero(hn::Gt(p, hn::Zero(d)), more));
        }
        hn::StoreU(sum, d, at);
      }
    }
  }

 private:
  static V32 probability(const Tile& s, int r, int c, const RowState& rows) {
    const F32 d;
    const V32 x = hn::Sub(hn::LoadU(d, s.at + r * s.stride + c), hn::LoadU(d, rows.shift + s.lane + c));
    return hn::Mul(Exp(x), hn::LoadU(d, rows.inverse + s.lane + c));
  }

  bool sampled_;
  uint64_t seed_;
  NormaliserOptions options_;
};

ArenaPtr<NormaliserKernel> MakeChoice(const Problem& p, NormaliserOptions options, CallArena& arena) {
  return arena.make<Choice>(p, options);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(MakeChoice);
ArenaPtr<NormaliserKernel> make_choice(const Problem& p, NormaliserOptions options, CallArena& arena) {
  return HWY_DYNAMIC_DISPATCH(MakeChoice)(p, options, arena);
}

ArenaPtr<NormaliserKernel> make_normaliser(const Problem& p, NormaliserOptions options, const Gradients* grad,
                                           CallArena& arena) {
  switch (p.normalise.kind) {
    case Normaliser::softmax:
      return make_softmax(p, options, grad, arena);
    case Normaliser::sigmoid:
    case Normaliser::relu:
    case Normaliser::identity:
      return make_pointwise(p, arena);
    case Normaliser::sparsemax:
    case Normaliser::entmax15:
      return make_sparse(p, arena);
    case Normaliser::argmax:
    case Normaliser::sampled:
      return make_choice(p, options, arena);
  }
  return nullptr;
}
}  // namespace heed::kernels
#endif
