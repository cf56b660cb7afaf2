// softmax: w_j = exp(s_j - m) / sum_j exp(s_j - m), online (Milakov and Gimelshein 2018): the shift m is the maximum so
// far, or near it, and what was summed under an older one is rescaled. An optional sink logit is part of the sum but
// has no value.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/normalise/softmax.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>

#include "heed/kernels/exact_math.h"
#include "heed/kernels/normalise/normaliser.h"
#include "heed/kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

class Softmax final : public NormaliserKernel {
 public:
  Softmax(const Problem& p, NormaliserOptions options, float* d_sink)
      : sink_(p.normalise.sink), d_sink_(d_sink), heads_(p.shape.heads), options_(options) {}

  const char* explain() const override { return "weights are normalised online, tile by tile"; }
  bool whole_rows() const override { return false; }
  bool delta_from_outputs() const override { return true; }
  bool gradient_reads_scores() const override { return options_.d_entropy; }

  void begin(RowState& rows, int64_t head, int count) const override {
    for (int c = 0; c < count; ++c) {
      rows.shift[c] = sink_ ? sink_[head] : kMinusInfinity;
      rows.norm[c] = sink_ ? 1.0f : 0.0f;
      rows.surprise[c] = 0.0f;
    }
  }

  bool absorb(const Tile& t, RowState& rows) const override {
    if (options_.entropy) return absorb_tile<true, true>(t, rows);
    return t.may_hide ? absorb_tile<false, true>(t, rows) : absorb_tile<false, false>(t, rows);
  }

  void finish(RowState& rows, int count) const override {
    for (int c = 0; c < count; ++c) {
      rows.inverse[c] = rows.norm[c] > 0.0f || rows.norm[c] != rows.norm[c] ? 1.0f / rows.norm[c] : 0.0f;
      if (rows.shift[c] == kMinusInfinity) rows.shift[c] = 0.0f;  // an empty row: every weight is exp(-inf) * 0
    }
  }

  void weights(const Tile& s, const Tile& w, const RowState& rows) const override {
    const F32 d;
    for (int c = 0; c < s.queries; c += kLanes) {
      const V32 shift = hn::LoadU(d, rows.shift + s.lane + c);
      const V32 inverse = hn::LoadU(d, rows.inverse + s.lane + c);
      for (int r = 0; r < s.keys; ++r) {
        const V32 e = Exp(hn::Sub(hn::LoadU(d, s.at + r * s.stride + c), shift));
        hn::StoreU(hn::Mul(e, inverse), d, w.at + r * w.stride + c);
      }
    }
  }

  // d_s = w (d_w - delta),  delta = sum_j w_j d_w_j = <d_out, out> + ...   (the loop knows it from the outputs)
  // entropy H = -sum_j w_j log w_j:  d_s -= d_H w (log w + H)
  void gradient(const Tile& s, const Tile& w, const Tile& g, const RowState& rows) const override {
    const F32 d;
    for (int c = 0; c < g.queries; c += kLanes) {
      const V32 delta = hn::LoadU(d, rows.delta + g.lane + c);
      if (!options_.d_entropy) {
        for (int r = 0; r < g.keys; ++r) {
          float* at = g.at + r * g.stride + c;
          hn::StoreU(hn::Mul(hn::LoadU(d, w.at + r * w.stride + c), hn::Sub(hn::LoadU(d, at), delta)), d, at);
        }
        continue;
      }
      const V32 d_entropy = hn::LoadU(d, rows.d_entropy + g.lane + c);
      // log w + H = s - shift + log(inverse) + H
      const V32 level =
          hn::Sub(hn::Add(hn::Log(d, hn::Max(hn::LoadU(d, rows.inverse + g.lane + c), hn::Set(d, 1e-38f))),
                          hn::LoadU(d, rows.entropy + g.lane + c)),
                  hn::LoadU(d, rows.shift + g.lane + c));
      for (int r = 0; r < g.keys; ++r) {
        float* at = g.at + r * g.stride + c;
        const V32 weight = hn::LoadU(d, w.at + r * w.stride + c);
        const V32 log_and_entropy = hn::Add(hn::LoadU(d, s.at + r * s.stride + c), level);
        const V32 inner = hn::Sub(hn::Sub(hn::LoadU(d, at), delta), hn::Mul(d_entropy, log_and_entropy));
        // A hidden pair has weight 0 and log weight -inf: its gradient is 0, not NaN.
        hn::StoreU(hn::IfThenElseZero(hn::Gt(weight, hn::Zero(d)), hn::Mul(weight, inner)), d, at);
      }
    }
  }

  // The sink is a key without a value: d_sink = w_sink (0 - delta).
  size_t gradient_floats() const override { return d_sink_ ? 1 : 0; }
  void parameter_gradient(const RowState& rows, const BlockTask& task, float* sums) const override {
    if (!d_sink_) return;
    double sum = 0.0;
    for (int c = 0; c < task.count; ++c)
      sum -= exact::exp(sink_[task.head] - rows.shift[c]) * rows.inverse[c] * rows.delta[c];
    sums[0] = static_cast<float>(sum);
  }
  void zero_gradients() const override {
    if (d_sink_) std::fill_n(d_sink_, heads_, 0.0f);
  }
  void add_gradients(const float* sums, int64_t head) const override {
    if (d_sink_) d_sink_[head] += sums[0];
  }

 private:
  static constexpr float kSlack = 8.0f;

  // Without kHidden all pairs are visible: weights below e^-87 need not be exact zeros.
  template <bool kEntropy, bool kHidden>
  bool absorb_tile(const Tile& t, RowState& rows) const {
    const F32 d;
    const size_t stride = t.stride;
    const int keys = t.keys, queries = t.queries;
    bool moved = false;
    for (int c = 0; c < queries; c += kLanes) {
      float* HWY_RESTRICT at = t.at + c;
      // Four chains: one would wait for the latency of each maximum.
      const V32 before = hn::LoadU(d, rows.shift + t.lane + c);
      V32 most0 = before, most1 = before, most2 = before, most3 = before;
      int r = 0;
      for (; r + 4 <= keys; r += 4) {
        most0 = hn::Max(most0, hn::LoadU(d, at + r * stride));
        most1 = hn::Max(most1, hn::LoadU(d, at + (r + 1) * stride));
        most2 = hn::Max(most2, hn::LoadU(d, at + (r + 2) * stride));
        most3 = hn::Max(most3, hn::LoadU(d, at + (r + 3) * stride));
      }
      for (; r < keys; ++r) most0 = hn::Max(most0, hn::LoadU(d, at + r * stride));
      const V32 most = hn::Max(hn::Max(most0, most1), hn::Max(most2, most3));
      // The shift need not be the maximum, only near it: a rise by less than e^8 is left alone, and nothing is
      // rescaled.
      const V32 shift = hn::IfThenElse(hn::Le(most, hn::Add(before, hn::Set(d, kSlack))), before, most);
      const V32 base = hn::IfThenElse(hn::Eq(shift, hn::Set(d, kMinusInfinity)), hn::Zero(d), shift);
      const V32 rescale = Exp(hn::Sub(before, base));
      V32 norm = hn::Mul(hn::LoadU(d, rows.norm + t.lane + c), rescale);
      V32 surprise = hn::Zero(d);
      if constexpr (kEntropy) {
        const V32 step = hn::IfThenElseZero(hn::Gt(before, hn::Set(d, kMinusInfinity)), hn::Sub(before, base));
        surprise = hn::MulAdd(step, norm, hn::Mul(hn::LoadU(d, rows.surprise + t.lane + c), rescale));
      }
      V32 sum0 = hn::Zero(d), sum1 = hn::Zero(d);
      const auto weight = [&](int row, V32& sum) HWY_ATTR {
        const V32 x = hn::Sub(hn::LoadU(d, at + row * stride), base);
        const V32 e = Exp<kHidden>(x);
        hn::StoreU(e, d, at + row * stride);
        sum = hn::Add(sum, e);
        if constexpr (kEntropy) surprise = hn::Add(surprise, hn::IfThenElseZero(hn::Gt(e, hn::Zero(d)), hn::Mul(e, x)));
      };
      for (r = 0; r + 2 <= keys; r += 2) {
        weight(r, sum0);
        weight(r + 1, sum1);
      }
      if (r < keys) weight(r, sum0);
      norm = hn::Add(norm, hn::Add(sum0, sum1));
      moved |= !hn::AllTrue(d, hn::Or(hn::Eq(before, shift), hn::Eq(before, hn::Set(d, kMinusInfinity))));
      hn::StoreU(shift, d, rows.shift + t.lane + c);
      hn::StoreU(norm, d, rows.norm + t.lane + c);
      hn::StoreU(rescale, d, rows.rescale + t.lane + c);
      if constexpr (kEntropy) hn::StoreU(surprise, d, rows.surprise + t.lane + c);
    }
    return moved;
  }

  const float* sink_;
  float* d_sink_;
  int64_t heads_;
  NormaliserOptions options_;
};

ArenaPtr<NormaliserKernel> MakeSoftmax(const Problem& p, NormaliserOptions options, const Gradients* grad,
                                       CallArena& arena) {
  return arena.make<Softmax>(p, options, grad ? grad->d_sink : nullptr);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(MakeSoftmax);
ArenaPtr<NormaliserKernel> make_softmax(const Problem& p, NormaliserOptions options, const Gradients* grad,
                                        CallArena& arena) {
  return HWY_DYNAMIC_DISPATCH(MakeSoftmax)(p, options, grad, arena);
}
bool is_plain_softmax(const Normalise& n) { return n.kind == Normaliser::softmax && !n.sink; }
}  // namespace heed::kernels
#endif
