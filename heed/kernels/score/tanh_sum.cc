// score = sum_d v_d tanh(q_d + k_d): additive = concat = a one-hidden-layer MLP. Bahdanau et al. 2015.
//
// tanh(a + b) = 1 - 2 / (1 + e^2a e^2b). With e^2q and e^2k computed once per token a pair-dimension costs no exponential:
//   score = sum_d v_d - 2 sum_d v_d u_d,   u_d = 1 / t_d,   t_d = 1 + e^2q_d e^2k_d
// and two dimensions share one reciprocal: v_1/t_1 + v_2/t_2 = (v_1 t_2 + v_2 t_1) / (t_1 t_2).
// The derivative needs no more: tanh' = 4 u (1 - u).
//
// t_1 t_2 stays below 2^126 while every |q|, |k| <= 10. A tile beyond that adds q + k first and takes tanh of the sum, as
// does a tile whose inputs are so small that 1 - 2u would lose them: so inputs of any size are exact.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/score/tanh_sum.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/score/score.h"
#include "heed/kernels/simd/math-inl.h"
#include "heed/kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

class TanhSum final : public ScoreKernel {
 public:
  TanhSum(const Problem& p, bool backward)
      : dim_(p.shape.dim), padded_(PadToLanes(dim_)), even_(dim_ + dim_ % 2), v_(p.score.v), v_stride_(p.score.v_head_stride),
        backward_(backward) {}

  // Queries: q^T [even D, width], e^2q^T [even D, width], the largest |q|; then v padded to even D, and the sum of v.
  size_t query_floats(size_t width) const override { return 2 * even_ * width + even_ + kNotes; }
  // Keys: k [keys, even D], e^2k [keys, even D], the largest |k|; backward: a tile's d_k [keys, padded D].
  size_t key_floats(size_t keys) const override { return keys * (2 * even_ + padded_) + kNotes; }
  size_t query_gradient_floats(size_t width) const override { return even_ * width; }
  size_t parameter_floats() const override { return dim_; }

  void load_queries(const Prepared& q, int64_t head) const override {
    const Queries at = queries(q);
    PackTransposed(q.rows, q.count, dim_, 1.0f, at.raw, q.stride);
    std::fill(at.raw + dim_ * q.stride, at.raw + even_ * q.stride, 0.0f);
    at.notes[0] = exponentials(at.raw, at.e, even_ * q.stride);
    const float* v = v_ + head * v_stride_;
    double sum = 0.0;
    for (size_t i = 0; i < dim_; ++i) sum += v[i];
    std::copy_n(v, dim_, at.v);
    std::fill(at.v + dim_, at.v + even_, 0.0f);
    at.notes[1] = static_cast<float>(sum);
  }

  void load_keys(const Prepared& k, int64_t) const override {
    const Keys at = keys(k);
    PackRows(k.rows, k.count, dim_, 1.0f, at.raw, even_);
    at.notes[0] = exponentials(at.raw, at.e, k.count * even_);
  }

  void forward(const Prepared& q, const Prepared& k, const Tile& t) const override {
    const Queries a = queries(q);
    const Keys b = keys(k);
    for (int c = 0; c < t.queries; c += 2 * kLanes) {
      const bool two = c + static_cast<int>(kLanes) < t.queries;
      int r = 0;
      if (factorises(a, b)) {
        for (; r + kRows <= t.keys; r += kRows)
          two ? factored<kRows, 2>(a, b, q.stride, t, r, c) : factored<kRows, 1>(a, b, q.stride, t, r, c);
        for (; r < t.keys; ++r) two ? factored<1, 2>(a, b, q.stride, t, r, c) : factored<1, 1>(a, b, q.stride, t, r, c);
      } else {
        for (; r < t.keys; ++r)
          for (int i = c; i < c + (two ? 2 : 1) * static_cast<int>(kLanes); i += kLanes) direct(a, b, q.stride, t, r, i);
      }
    }
  }

  // With g = d_score and w_d = u_d (1 - u_d):
  //   d_q_d += 4 v_d sum_keys g w_d      d_k_d += 4 v_d sum_queries g w_d      d_v_d += sum g (1 - 2 u_d)
  // The factor 4 v_d waits until the sums are done.
  void backward(const Prepared& q, const Prepared& k, const Tile& t, float* d_queries, MutableRows d_k,
                float* d_parameters) const override {
    const Queries a = queries(q);
    const Keys b = keys(k);
    const bool factored = factorises(a, b);
    const F32 d;
    // Lanes nobody reads must not enter the sums over queries.
    const size_t lanes = PadToLanes(t.queries);
    for (int r = 0; r < t.keys; ++r)
      for (size_t c = t.queries; c < lanes; ++c) t.at[r * t.stride + c] = 0.0f;
    double total = 0.0;
    if (d_parameters)
      for (int r = 0; r < t.keys; ++r)
        for (int c = 0; c < t.queries; ++c) total += t.at[r * t.stride + c];

    float* d_keys = keys(k).d_k;
    for (size_t i = 0; i < even_; i += 2) {
      // d_v wants sum g u (or, directly, sum g tanh)
      V32 v_sum[2] = {hn::Zero(d), hn::Zero(d)};
      int r = 0;
      for (; r + 2 <= t.keys; r += 2)
        factored ? two_dims<true, 2>(a, b, q.stride, t, r, i, d_queries, d_keys, v_sum)
                 : two_dims<false, 2>(a, b, q.stride, t, r, i, d_queries, d_keys, v_sum);
      for (; r < t.keys; ++r)
        factored ? two_dims<true, 1>(a, b, q.stride, t, r, i, d_queries, d_keys, v_sum)
                 : two_dims<false, 1>(a, b, q.stride, t, r, i, d_queries, d_keys, v_sum);
      if (d_parameters)
        for (size_t n = 0; n < 2 && i + n < dim_; ++n) {
          const float sum = hn::GetLane(hn::SumOfLanes(d, v_sum[n]));
          d_parameters[i + n] += factored ? static_cast<float>(total - 2.0 * sum) : sum;
        }
    }
    if (d_k)
      for (int r = 0; r < t.keys; ++r)
        for (size_t i = 0; i < dim_; ++i) *d_k.at(t.row + r, i) += 4.0f * a.v[i] * d_keys[(t.row + r) * padded_ + i];
  }

  void store_query_gradient(const Prepared& q, const float* d_queries, MutableRows d_q) const override {
    const float* v = queries(q).v;
    for (int r = 0; r < q.count; ++r)
      for (size_t i = 0; i < dim_; ++i) *d_q.at(r, i) = 4.0f * v[i] * d_queries[i * q.stride + r];
  }

  void add_parameter_gradient(const float* d_parameters, int64_t head, const Gradients& grad) const override {
    if (!grad.d_score_v) return;
    for (size_t i = 0; i < dim_; ++i) grad.d_score_v[head * v_stride_ + i] += d_parameters[i];
  }

 private:
  static constexpr int kRows = 4;      // keys at once: enough independent chains to hide the reciprocal
  static constexpr size_t kNotes = 16;  // room for single numbers, a cache line
  static constexpr float kLargest = 10.0f;
  static constexpr float kSmallest = 0.05f;

  struct Queries {
    float *raw, *e, *v, *notes;
  };
  struct Keys {
    float *raw, *e, *d_k, *notes;
  };
  Queries queries(const Prepared& q) const {
    float* at = q.scratch;
    return {at, at + even_ * q.stride, at + 2 * even_ * q.stride, at + 2 * even_ * q.stride + even_};
  }
  Keys keys(const Prepared& k) const {
    float* at = k.scratch;
    return {at + kNotes, at + kNotes + k.count * even_, at + kNotes + 2 * k.count * even_, at};
  }

  /// e = exp(2 x), and the largest |x|. NaN counts as large, so that it takes the path that keeps it.
  static float exponentials(const float* x, float* e, size_t count) {
    const F32 d;
    V32 most = hn::Zero(d);
    bool all_numbers = true;
    size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      const V32 v = hn::LoadU(d, x + i);
      most = hn::Max(most, hn::Abs(v));
      all_numbers &= hn::AllTrue(d, hn::Eq(v, v));
      const V32 clamped = hn::Min(hn::Set(d, kLargest), hn::Max(hn::Set(d, -kLargest), v));
      hn::StoreU(Exp(hn::Add(clamped, clamped)), d, e + i);
    }
    float largest = hn::GetLane(hn::MaxOfLanes(d, most));
    for (; i < count; ++i) {
      largest = std::max(largest, std::abs(x[i]));
      all_numbers &= x[i] == x[i];
      e[i] = std::exp(2.0f * std::clamp(x[i], -kLargest, kLargest));
    }
    return all_numbers ? largest : std::numeric_limits<float>::infinity();
  }

  static bool factorises(const Queries& a, const Keys& b) {
    return a.notes[0] <= kLargest && b.notes[0] <= kLargest && a.notes[0] + b.notes[0] >= kSmallest;
  }

  /// scores of kKeys keys x kVecs vectors of queries
  template <int kKeys, int kVecs>
  HWY_INLINE void factored(const Queries& a, const Keys& b, size_t stride, const Tile& t, int r, int c) const {
    const F32 d;
    const V32 one = hn::Set(d, 1.0f);
    V32 sum[kKeys][kVecs];
    for (int i = 0; i < kKeys; ++i)
      for (int j = 0; j < kVecs; ++j) sum[i][j] = hn::Zero(d);
    const float* q = a.e + t.lane + c;
    const float* k = b.e + (t.row + r) * even_;
    for (size_t x = 0; x < even_; x += 2) {
      const V32 v0 = hn::Set(d, a.v[x]), v1 = hn::Set(d, a.v[x + 1]);
#pragma GCC unroll 4
      for (int j = 0; j < kVecs; ++j) {
        const V32 q0 = hn::LoadU(d, q + x * stride + j * kLanes);
        const V32 q1 = hn::LoadU(d, q + (x + 1) * stride + j * kLanes);
#pragma GCC unroll 8
        for (int i = 0; i < kKeys; ++i) {
          const V32 t0 = hn::MulAdd(q0, hn::Set(d, k[i * even_ + x]), one);
          const V32 t1 = hn::MulAdd(q1, hn::Set(d, k[i * even_ + x + 1]), one);
          const V32 numerator = hn::MulAdd(v0, t1, hn::Mul(v1, t0));
          sum[i][j] = hn::MulAdd(numerator, Reciprocal(hn::Mul(t0, t1)), sum[i][j]);
        }
      }
    }
    const V32 v_sum = hn::Set(d, a.notes[1]), minus_two = hn::Set(d, -2.0f);
    for (int i = 0; i < kKeys; ++i)
      for (int j = 0; j < kVecs; ++j)
        hn::StoreU(hn::MulAdd(minus_two, sum[i][j], v_sum), d, t.at + (r + i) * t.stride + c + j * kLanes);
  }

  void direct(const Queries& a, const Keys& b, size_t stride, const Tile& t, int r, int c) const {
    const F32 d;
    V32 sum = hn::Zero(d);
    const float* k = b.raw + (t.row + r) * even_;
    for (size_t x = 0; x < dim_; ++x) {
      const V32 both = hn::Add(hn::LoadU(d, a.raw + x * stride + t.lane + c), hn::Set(d, k[x]));
      sum = hn::MulAdd(hn::Set(d, a.v[x]), Tanh(both), sum);
    }
    hn::StoreU(sum, d, t.at + r * t.stride + c);
  }

  /// Backward of dimensions x and x + 1 for kKeys keys and all queries of the tile.
  template <bool kFactored, int kKeys>
  HWY_INLINE void two_dims(const Queries& a, const Keys& b, size_t stride, const Tile& t, int r, size_t x, float* d_queries,
                           float* d_keys, V32* v_sum) const {
    const F32 d;
    const V32 one = hn::Set(d, 1.0f);
    V32 k_sum[kKeys][2];
    V32 k0[kKeys], k1[kKeys];
    const float* source = kFactored ? b.e : b.raw;
#pragma GCC unroll 4
    for (int i = 0; i < kKeys; ++i) {
      const float* k = source + (t.row + r + i) * even_ + x;
      k0[i] = hn::Set(d, k[0]), k1[i] = hn::Set(d, k[1]);
      k_sum[i][0] = k_sum[i][1] = hn::Zero(d);
    }
    const float* q = (kFactored ? a.e : a.raw) + x * stride + t.lane;
    float* d_q = d_queries + x * stride + t.lane;
    for (int c = 0; c < t.queries; c += kLanes) {
      const V32 q0 = hn::LoadU(d, q + c), q1 = hn::LoadU(d, q + stride + c);
      V32 sum0 = hn::LoadU(d, d_q + c), sum1 = hn::LoadU(d, d_q + stride + c);
#pragma GCC unroll 4
      for (int i = 0; i < kKeys; ++i) {
        const V32 g = hn::LoadU(d, t.at + (r + i) * t.stride + c);
        V32 g0, g1;  // g times a quarter of tanh's derivative
        if constexpr (kFactored) {
          const V32 t0 = hn::MulAdd(q0, k0[i], one), t1 = hn::MulAdd(q1, k1[i], one);
          const V32 both = Reciprocal(hn::Mul(t0, t1));
          const V32 u0 = hn::Mul(both, t1), u1 = hn::Mul(both, t0);
          const V32 gu0 = hn::Mul(g, u0), gu1 = hn::Mul(g, u1);
          v_sum[0] = hn::Add(v_sum[0], gu0), v_sum[1] = hn::Add(v_sum[1], gu1);
          g0 = hn::NegMulAdd(gu0, u0, gu0), g1 = hn::NegMulAdd(gu1, u1, gu1);
        } else {
          const V32 h0 = Tanh(hn::Add(q0, k0[i])), h1 = Tanh(hn::Add(q1, k1[i]));
          v_sum[0] = hn::MulAdd(g, h0, v_sum[0]), v_sum[1] = hn::MulAdd(g, h1, v_sum[1]);
          const V32 quarter = hn::Set(d, 0.25f);
          g0 = hn::Mul(hn::Mul(g, quarter), hn::NegMulAdd(h0, h0, one));
          g1 = hn::Mul(hn::Mul(g, quarter), hn::NegMulAdd(h1, h1, one));
        }
        sum0 = hn::Add(sum0, g0), sum1 = hn::Add(sum1, g1);
        k_sum[i][0] = hn::Add(k_sum[i][0], g0), k_sum[i][1] = hn::Add(k_sum[i][1], g1);
      }
      hn::StoreU(sum0, d, d_q + c);
      hn::StoreU(sum1, d, d_q + stride + c);
    }
    for (int i = 0; i < kKeys; ++i)
      for (size_t n = 0; n < 2 && x + n < dim_; ++n)
        d_keys[(t.row + r + i) * padded_ + x + n] = hn::GetLane(hn::SumOfLanes(d, k_sum[i][n]));
  }

  size_t dim_, padded_, even_;
  const float* v_;
  int64_t v_stride_;
  bool backward_;
};

std::unique_ptr<ScoreKernel> MakeTanhSum(const Problem& p, bool backward) { return std::make_unique<TanhSum>(p, backward); }

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(MakeTanhSum);
std::unique_ptr<ScoreKernel> make_tanh_sum(const Problem& p, bool backward) {
  return HWY_DYNAMIC_DISPATCH(MakeTanhSum)(p, backward);
}
}  // namespace heed::kernels
#endif
