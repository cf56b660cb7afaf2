// score = sum_d v_d tanh(q_d + k_d): additive = concat = a one-hidden-layer MLP. Bahdanau et al. 2015.
//
// tanh(a + b) = 1 - 2 / (1 + e^2a e^2b). With e^2q and e^2k computed once per token a pair-dimension costs no
// exponential:
//   score = sum_d v_d - 2 sum_d v_d u_d,   u_d = 1 / t_d,   t_d = 1 + e^2q_d e^2k_d
// and several dimensions share one division: v_1/t_1 + v_2/t_2 = (v_1 t_2 + v_2 t_1) / (t_1 t_2), likewise four, eight.
// With e^2q / v and 1 / v, also computed once per token, s = t / v costs no more than t, and two dimensions less:
//   v_1/t_1 + v_2/t_2 = 1/s_1 + 1/s_2 = (s_1 + s_2) / (s_1 s_2)
// The derivative needs no more: tanh' = 4 u (1 - u).
//
// The product of the t must stay below 2^126: eight share one while every |q|, |k| <= 2.5, four up to 5, two up to 10,
// one up to 20. That leaves 2^10 for the product of 1 / v, where v is first scaled by a power of two so that most are
// above 1; eight dimensions with more, or with a v of 0, take t instead of s.
// Beyond that q + k is added first and tanh taken of the sum, as it is where inputs are so small that 1 - 2u would lose
// them: so inputs of any size are exact.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/score/tanh_sum.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <limits>

#include "heed/kernels/score/divided_by_v.h"
#include "heed/kernels/score/score.h"
#include "heed/kernels/score/tanh_fractions-inl.h"
#include "heed/kernels/simd/math-inl.h"
#include "heed/kernels/simd/rows-inl.h"
#include "heed/kernels/simd/sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

class TanhSum final : public ScoreKernel {
 public:
  TanhSum(const Problem& p, float* d_v, CallArena& arena)
      : dim_(p.shape.dim),
        whole_((dim_ + kTanhDims - 1) / kTanhDims * kTanhDims),
        v_(p.score.v),
        d_v_(d_v),
        v_stride_(p.score.v_head_stride),
        heads_(p.shape.heads),
        divided_by_v_(arena.array<DividedByV>(static_cast<size_t>(v_heads()))) {
    for (int64_t h = 0; h < v_heads(); ++h) divided_by_v_[h] = DividedByV(v(h), dim_, whole_, arena);
  }

  double cost_of_pair() const override { return 8.0 * static_cast<double>(dim_); }
  const char* explain(int64_t) const override {
    return "exponentials are computed once per token; keys with inputs beyond +-20 use tanh of the sum instead";
  }

  // Queries: q^T, e^2q^T, e^2q^T / scaled v, [whole D, width] each; the largest |q|.
  size_t query_floats(size_t width) const override { return 3 * whole_ * width + 1; }
  // Keys: the largest |k| of each, k [keys, whole D], e^2k [keys, whole D]; backward: a tile's d_k [keys, whole D].
  size_t key_floats(size_t keys) const override { return keys * (1 + 3 * whole_); }
  size_t query_gradient_floats(size_t width) const override { return whole_ * width; }
  size_t gradient_floats() const override { return dim_; }

  void load_queries(const ScoreOperand& q) const override {
    const Queries at = queries(q);
    PackTransposed(q.rows, q.count, dim_, 1.0f, {at.raw, q.stride});
    std::fill(at.raw + dim_ * q.stride, at.raw + whole_ * q.stride, 0.0f);
    *at.most = exponentials(at.raw, at.e, whole_ * q.stride);
    const DividedByV& by_v = divided_by_v(q.head);
    const F32 d;
    for (size_t i = 0; i < whole_; ++i) {
      const V32 inverse = hn::Set(d, by_v.inverse[i]);
      for (size_t c = 0; c < q.stride; c += kLanes)
        hn::StoreU(hn::Mul(hn::LoadU(d, at.e + i * q.stride + c), inverse), d, at.e_over_v + i * q.stride + c);
    }
  }

  void load_keys(const ScoreOperand& k) const override {
    const Keys at = keys(k);
    PackRows(k.rows, k.count, dim_, 1.0f, {at.raw, whole_});
    for (int r = 0; r < k.count; ++r) at.most[r] = exponentials(at.raw + r * whole_, at.e + r * whole_, whole_);
  }

  void forward(const ScoreOperand& q, const ScoreOperand& k, const Tile& t) const override {
    const Queries a = queries(q);
    const Keys b = keys(k);
    // Decided per key, so that no key's score depends on its neighbours.
    for (int r = 0, count = 0; r < t.keys; r += count) {
      const int dims = dims_together(a, b, t.row + r);
      for (count = 1; count < kRows && r + count < t.keys && dims_together(a, b, t.row + r + count) == dims;) ++count;
      switch (dims) {
        case 8:
          factored_keys<8>(a, b, t, r, count);
          break;
        case 4:
          factored_keys<4>(a, b, t, r, count);
          break;
        case 2:
          factored_keys<2>(a, b, t, r, count);
          break;
        case 1:
          factored_keys<1>(a, b, t, r, count);
          break;
        default:
          for (int i = r; i < r + count; ++i)
            for (int c = 0; c < t.queries; c += kLanes) direct(a, b, t, i, c);
      }
    }
  }

  // With g = d_score and w_d = u_d (1 - u_d):
  //   d_q_d += 4 v_d sum_keys g w_d      d_k_d += 4 v_d sum_queries g w_d      d_v_d += sum g (1 - 2 u_d)
  // The factor 4 v_d waits until the sums are done.
  void backward(const ScoreOperand& q, const ScoreOperand& k, const Tile& t, const ScoreGradients& to) const override {
    const Queries a = queries(q);
    const Keys b = keys(k);
    bool factored = true;
    for (int r = 0; r < t.keys; ++r) factored &= dims_together(a, b, t.row + r) >= 2;
    const F32 d;
    // Unused lanes must not enter the sums over queries.
    const size_t lanes = PadToLanes(t.queries);
    for (int r = 0; r < t.keys; ++r)
      for (size_t c = t.queries; c < lanes; ++c) t.at[r * t.stride + c] = 0.0f;
    double total = 0.0;
    if (to.sums)
      for (int r = 0; r < t.keys; ++r) {
        V32 sum = hn::Zero(d);
        for (size_t c = 0; c < lanes; c += kLanes) sum = hn::Add(sum, hn::LoadU(d, t.at + r * t.stride + c));
        total += hn::GetLane(hn::SumOfLanes(d, sum));
      }

    factored ? all_dims<true>(a, b, t, to, total) : all_dims<false>(a, b, t, to, total);
    const float* v = this->v(t.head);
    if (to.d_k)
      for (int r = 0; r < t.keys; ++r)
        for (size_t i = 0; i < dim_; ++i) *to.d_k.at(t.row + r, i) += 4.0f * v[i] * b.d_k[(t.row + r) * whole_ + i];
  }

  void store_query_gradient(const ScoreOperand& q, const float* d_queries, MutableRows d_q) const override {
    const float* v = this->v(q.head);
    for (int r = 0; r < q.count; ++r)
      for (size_t i = 0; i < dim_; ++i) *d_q.at(r, i) = 4.0f * v[i] * d_queries[i * q.stride + r];
  }

  void zero_gradients() const override {
    for (int64_t h = 0; d_v_ && h < v_heads(); ++h) std::fill_n(d_v_ + h * v_stride_, dim_, 0.0f);
  }
  void add_gradients(const float* sums, int64_t head) const override {
    for (size_t i = 0; d_v_ && i < dim_; ++i) d_v_[head * v_stride_ + i] += sums[i];
  }

 private:
  static constexpr int kRows = 4;  // keys at once: enough independent chains to hide the division
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
  static constexpr int kBackwardRows = 2;  // their sums over queries stay in 16 registers
#else
  static constexpr int kBackwardRows = 4;
#endif
  static constexpr float kLargest = 20.0f;  // (1 + e^(4 * 20)) < 2^116
  static constexpr float kSmallest = 0.05f;

  int64_t v_heads() const { return v_stride_ ? heads_ : 1; }
  const float* v(int64_t head) const { return v_ + head * v_stride_; }
  const DividedByV& divided_by_v(int64_t head) const { return divided_by_v_[v_stride_ ? head : 0]; }

  struct Queries {
    float *raw, *e, *e_over_v;  // [whole D, stride]
    float* most;                // the largest |q|
    size_t stride;
  };
  struct Keys {
    float *raw, *e, *d_k, *most;
  };
  Queries queries(const ScoreOperand& q) const {
    const size_t rows = whole_ * q.stride;
    return {q.scratch, q.scratch + rows, q.scratch + 2 * rows, q.scratch + 3 * rows, q.stride};
  }
  Keys keys(const ScoreOperand& k) const {
    float* at = k.scratch;
    return {at + k.count, at + k.count * (1 + whole_), at + k.count * (1 + 2 * whole_), at};
  }

  /// e = exp(2 x), and the largest |x|. NaN counts as large, so that it takes the path that keeps it.
  static float exponentials(const float* x, float* e, size_t count) {
    const F32 d;
    V32 most = hn::Zero(d);
    bool all_numbers = true;
    const auto exponential = [&](const float* from, float* to) HWY_ATTR {
      const V32 v = hn::LoadU(d, from);
      most = hn::Max(most, hn::Abs(v));
      all_numbers &= hn::AllTrue(d, hn::Eq(v, v));
      const V32 clamped = hn::Min(hn::Set(d, kLargest), hn::Max(hn::Set(d, -kLargest), v));
      hn::StoreU(Exp(hn::Add(clamped, clamped)), d, to);
    };
    const size_t vectors = count / kLanes * kLanes;
    for (size_t i = 0; i < vectors; i += kLanes) exponential(x + i, e + i);
    if (vectors < count) {
      float rest[kLanes] = {};
      std::copy(x + vectors, x + count, rest);
      exponential(rest, rest);
      std::copy_n(rest, count - vectors, e + vectors);
    }
    const float largest = hn::GetLane(hn::MaxOfLanes(d, most));
    return all_numbers ? largest : std::numeric_limits<float>::infinity();
  }

  /// How many dimensions may share a division for this key with these queries; 0: none, not even one.
  static int dims_together(const Queries& a, const Keys& b, int key) {
    const float largest = std::max(*a.most, b.most[key]);
    if (*a.most + b.most[key] < kSmallest) return 0;
    if (largest <= kLargest / 8) return 8;
    return largest <= kLargest / 4 ? 4 : largest <= kLargest / 2 ? 2 : largest <= kLargest ? 1 : 0;
  }

  /// scores of kKeys keys x kVecs vectors of queries, kDims dimensions to a division
  template <int kKeys, int kVecs, int kDims>
  HWY_INLINE void factored(const Queries& a, const Keys& b, const Tile& t, int r, int c) const {
    const F32 d;
    const DividedByV& by_v = divided_by_v(t.head);
    const float* k = b.e + (t.row + r) * whole_;
    const V32 v_sum = hn::Set(d, by_v.sum), factor = hn::Set(d, -2.0f / by_v.scale);
    for (int j = 0; j < kVecs; ++j, c += kLanes) {
      V32 sum[kKeys];
      for (int i = 0; i < kKeys; ++i) sum[i] = hn::Zero(d);
      const TanhFactors plain{a.e + t.lane + c, a.stride, by_v.scaled, k, whole_};
      const TanhFactors divided{a.e_over_v + t.lane + c, a.stride, by_v.inverse, k, whole_};
      for (size_t x = 0; x < whole_; x += kDims) {
        if (kDims > 1 && by_v.possible[x / kTanhDims])
          AddTanhFractions<kKeys, kDims, true>(divided, x, sum);
        else
          AddTanhFractions<kKeys, kDims, false>(plain, x, sum);
      }
      for (int i = 0; i < kKeys; ++i) hn::StoreU(hn::MulAdd(factor, sum[i], v_sum), d, t.at + (r + i) * t.stride + c);
    }
  }
  template <int kDims>
  void factored_keys(const Queries& a, const Keys& b, const Tile& t, int r, int count) const {
    for (int c = 0; c < t.queries; c += 2 * kLanes) {
      const bool two = c + static_cast<int>(kLanes) < t.queries;
      if (count == kRows)
        two ? factored<kRows, 2, kDims>(a, b, t, r, c) : factored<kRows, 1, kDims>(a, b, t, r, c);
      else
        for (int i = r; i < r + count; ++i)
          two ? factored<1, 2, kDims>(a, b, t, i, c) : factored<1, 1, kDims>(a, b, t, i, c);
    }
  }

  void direct(const Queries& a, const Keys& b, const Tile& t, int r, int c) const {
    const F32 d;
    V32 sum = hn::Zero(d);
    const float *k = b.raw + (t.row + r) * whole_, *v = this->v(t.head);
    for (size_t x = 0; x < dim_; ++x) {
      const V32 both = hn::Add(hn::LoadU(d, a.raw + x * a.stride + t.lane + c), hn::Set(d, k[x]));
      sum = hn::MulAdd(hn::Set(d, v[x]), Tanh(both), sum);
    }
    hn::StoreU(sum, d, t.at + r * t.stride + c);
  }

  /// The first of some keys, and the first of two dimensions, with the sums that they add to.
  struct TwoDims {
    int r;
    size_t x;
    float* d_queries;
    float* d_keys;
    V32* v_sum;  // [2]
  };
  /// Backward of dimensions x and x + 1 for kKeys keys and all queries of the tile: adds to d_queries and v_sum, writes
  /// to d_keys. The sums are additions of products, not multiply-adds: some CPUs have units for additions beside
  /// those for products (docs/kernels.md).
  template <bool kFactored, int kKeys>
  HWY_INLINE void two_dims(const Queries& a, const Keys& b, const Tile& t, const TwoDims& at) const {
    constexpr int kDims = 2;
    const F32 d;
    const size_t x = at.x, stride = a.stride;
    const int r = at.r;
    const V32 one = hn::Set(d, 1.0f);
    V32 k_sum[kDims * kKeys], v_sum[kDims];
    const float* HWY_RESTRICT k = (kFactored ? b.e : b.raw) + (t.row + r) * whole_ + x;
#pragma GCC unroll 8
    for (int i = 0; i < kDims * kKeys; ++i) k_sum[i] = hn::Zero(d);
#pragma GCC unroll 2
    for (int n = 0; n < kDims; ++n) v_sum[n] = at.v_sum[n];
    const float* HWY_RESTRICT q = (kFactored ? a.e : a.raw) + x * stride + t.lane;
    const float* HWY_RESTRICT tile = t.at + r * t.stride;
    float* HWY_RESTRICT d_q = at.d_queries + x * stride + t.lane;
    const size_t queries = t.queries, tile_stride = t.stride, whole = whole_;
    for (size_t c = 0; c < queries; c += kLanes) {
      V32 of_q[kDims], sum[kDims];
#pragma GCC unroll 2
      for (int n = 0; n < kDims; ++n) {
        of_q[n] = hn::LoadU(d, q + n * stride + c);
        sum[n] = hn::LoadU(d, d_q + n * stride + c);
      }
#pragma GCC unroll 4
      for (int i = 0; i < kKeys; ++i) {
        const V32 g = hn::LoadU(d, tile + i * tile_stride + c);
        V32 in[kDims], u[kDims];
#pragma GCC unroll 2
        for (int n = 0; n < kDims; ++n) {
          const V32 of_k = hn::Set(d, k[i * whole + n]);
          in[n] = kFactored ? hn::MulAdd(of_q[n], of_k, one) : hn::Add(of_q[n], of_k);
        }
        if constexpr (kFactored) {
          const V32 both = Reciprocal(hn::Mul(in[0], in[1]));
          u[0] = hn::Mul(both, in[1]), u[1] = hn::Mul(both, in[0]);
        }
#pragma GCC unroll 2
        for (int n = 0; n < kDims; ++n) {
          V32 gw;  // w: a quarter of tanh's derivative
          if constexpr (kFactored) {
            const V32 gu = hn::Mul(g, u[n]);
            v_sum[n] = hn::Add(gu, v_sum[n]);
            gw = hn::NegMulAdd(gu, u[n], gu);
          } else {
            const V32 h = Tanh(in[n]);
            v_sum[n] = hn::MulAdd(g, h, v_sum[n]);
            gw = hn::Mul(hn::Mul(hn::Set(d, 0.25f), g), hn::NegMulAdd(h, h, one));
          }
          sum[n] = hn::Add(gw, sum[n]);
          k_sum[kDims * i + n] = hn::Add(gw, k_sum[kDims * i + n]);
        }
      }
#pragma GCC unroll 2
      for (int n = 0; n < kDims; ++n) hn::StoreU(sum[n], d, d_q + n * stride + c);
    }
#pragma GCC unroll 2
    for (int n = 0; n < kDims; ++n) at.v_sum[n] = v_sum[n];
    float sums[kDims * kKeys];
    SumLanes(k_sum, sums);
    for (int i = 0; i < kKeys; ++i) std::copy_n(sums + kDims * i, kDims, at.d_keys + (t.row + r + i) * whole_ + x);
  }

  /// Backward of a tile; total: the sum of all g.
  template <bool kFactored>
  void all_dims(const Queries& a, const Keys& b, const Tile& t, const ScoreGradients& to, double total) const {
    const F32 d;
    for (size_t x = 0; x < whole_; x += 2) {
      V32 v_sum[2] = {hn::Zero(d), hn::Zero(d)};  // d_v needs sum g u (or, directly, sum g tanh)
      int r = 0;
      for (; r + kBackwardRows <= t.keys; r += kBackwardRows)
        two_dims<kFactored, kBackwardRows>(a, b, t, {r, x, to.d_queries, b.d_k, v_sum});
      for (; r < t.keys; ++r) two_dims<kFactored, 1>(a, b, t, {r, x, to.d_queries, b.d_k, v_sum});
      if (to.sums)
        for (size_t n = 0; n < 2 && x + n < dim_; ++n) {
          const float sum = hn::GetLane(hn::SumOfLanes(d, v_sum[n]));
          to.sums[x + n] += kFactored ? static_cast<float>(total - 2.0 * sum) : sum;
        }
    }
  }

  size_t dim_, whole_;
  const float* v_;
  float* d_v_;
  int64_t v_stride_, heads_;
  DividedByV* divided_by_v_;  // [v_heads()]
};

ArenaPtr<ScoreKernel> MakeTanhSum(const Problem& p, const Gradients* grad, CallArena& arena) {
  return arena.make<TanhSum>(p, grad ? grad->d_score_v : nullptr, arena);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {
HWY_EXPORT(MakeTanhSum);
ArenaPtr<ScoreKernel> make_tanh_sum(const Problem& p, const Gradients* grad, CallArena& arena) {
  return HWY_DYNAMIC_DISPATCH(MakeTanhSum)(p, grad, arena);
}

void check_tanh_sum(const Problem& p, Reasons& reasons) {
  reasons.expect(p.score.v || p.shape.dim == 0, "score.v: expected data, got null");
}
}  // namespace

const ScoreEntry scores::tanh_sum{
    .make = make_tanh_sum, .check = check_tanh_sum, .has = {.v = true}, .is_expensive = true, .block_queries = 128};
}  // namespace heed::kernels
#endif
