// score = v . h_n,  h_1 = act(q + k),  h_{l+1} = act(W_l h_l + b_l): a multilayer perceptron on the pair.
//
// Key by key: the hidden layers of one key with all queries of the tile are matrices [hidden, queries], so that each
// layer is one matrix product with the queries across the lanes. Nothing is stored for all pairs; the backward
// recomputes the layers of a key before it goes back through them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/score/pair_mlp.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "heed/kernels/score/score.h"
#include "heed/kernels/simd/gemm-inl.h"
#include "heed/kernels/simd/math-inl.h"
#include "heed/kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

HWY_INLINE V32 Act(MlpActivation kind, V32 z) {
  const F32 d;
  switch (kind) {
    case MlpActivation::tanh:
      return Tanh(z);
    case MlpActivation::relu:
      return AtLeast(hn::Zero(d), z);
    case MlpActivation::silu:
      return hn::Mul(z, Sigmoid(z));
    case MlpActivation::gelu:
      break;
  }
  return hn::Mul(z, NormalCdf(z));
}

/// act'(z), given h = act(z)
HWY_INLINE V32 ActSlope(MlpActivation kind, V32 z, V32 h) {
  const F32 d;
  switch (kind) {
    case MlpActivation::tanh:
      return hn::NegMulAdd(h, h, hn::Set(d, 1.0f));
    case MlpActivation::relu:
      return hn::IfThenElseZero(hn::Gt(z, hn::Zero(d)), hn::Set(d, 1.0f));
    case MlpActivation::silu: {  // h = z s: s + z s (1 - s) = s + h (1 - s)
      const V32 s = Sigmoid(z);
      return hn::MulAdd(h, hn::Sub(hn::Set(d, 1.0f), s), s);
    }
    case MlpActivation::gelu:
      break;
  }
  return hn::MulAdd(z, NormalPdf(z), NormalCdf(z));
}

class PairMlp final : public ScoreKernel {
 public:
  PairMlp(const Problem& p, const Gradients* grad, CallArena& arena)
      : score_(p.score), dim_(p.shape.dim), grad_(grad), widths_(&arena), weight_at_(&arena), bias_at_(&arena) {
    const size_t layers = static_cast<size_t>(std::max<int64_t>(score_.layer_count, 0));
    widths_.reserve(layers + 1), weight_at_.reserve(layers), bias_at_.reserve(layers);
    widths_.push_back(dim_);
    parameters_ = 0;
    for (int64_t l = 0; l < score_.layer_count; ++l) {
      const MlpLayer& layer = score_.layers[l];
      widths_.push_back(static_cast<size_t>(layer.out));
      weight_at_.push_back(parameters_);
      parameters_ += layer.out * PadToLanes(layer.in);
      bias_at_.push_back(parameters_);
      parameters_ += layer.out;
    }
    v_at_ = parameters_;
    parameters_ += widths_.back();
    for (const size_t w : widths_) hidden_ += w, most_ = std::max(most_, w);
  }

  double cost_of_pair() const override { return kMuchWork; }

  // Queries: q^T [D, width]; the layers of one key, z and h, [hidden, width] each; backward: two layers of d_h and one
  // layer turned, [width, hidden].
  size_t query_floats(size_t width) const override {
    return width * (dim_ + 2 * hidden_ + (grad_ ? 2 * most_ + PadToLanes(most_) : 0));
  }
  size_t key_floats(size_t) const override { return 0; }
  size_t query_gradient_floats(size_t width) const override { return dim_ * width; }
  size_t gradient_floats() const override { return parameters_; }

  void load_queries(const ScoreOperand& q) const override {
    PackTransposed(q.rows, q.count, dim_, 1.0f, {q.scratch, q.stride});
  }
  void load_keys(const ScoreOperand&) const override {}

  void forward(const ScoreOperand& q, const ScoreOperand& k, const Tile& t) const override {
    const F32 d;
    const float* last = layer(q, widths_.size() - 1, kH);
    for (int r = 0; r < t.keys; ++r) {
      run_layers(q, k, t, r);
      for (int c = 0; c < t.queries; c += kLanes) {
        V32 sum = hn::Zero(d);
        for (size_t i = 0; i < widths_.back(); ++i)
          sum = hn::MulAdd(hn::Set(d, score_.v[i]), hn::LoadU(d, last + i * q.stride + c), sum);
        hn::StoreU(sum, d, t.at + r * t.stride + c);
      }
    }
  }

  void backward(const ScoreOperand& q, const ScoreOperand& k, const Tile& t, const ScoreGradients& to) const override {
    const F32 d;
    const size_t lanes = PadToLanes(t.queries);
    // Unused lanes must not enter the sums over queries.
    for (int r = 0; r < t.keys; ++r)
      for (size_t c = t.queries; c < lanes; ++c) t.at[r * t.stride + c] = 0.0f;
    float* d_this = q.scratch + q.stride * (dim_ + 2 * hidden_);
    float* d_below = d_this + q.stride * most_;
    float* turned = d_below + q.stride * most_;

    for (int r = 0; r < t.keys; ++r) {
      run_layers(q, k, t, r);
      const float* g = t.at + r * t.stride;
      // score = v . h_n:  d_h = v g,  d_v += h g
      const float* last = layer(q, widths_.size() - 1, kH);
      for (size_t i = 0; i < widths_.back(); ++i) {
        V32 sum = hn::Zero(d);
        for (size_t c = 0; c < lanes; c += kLanes) {
          const V32 at = hn::LoadU(d, g + c);
          sum = hn::MulAdd(at, hn::LoadU(d, last + i * q.stride + c), sum);
          hn::StoreU(hn::Mul(hn::Set(d, score_.v[i]), at), d, d_this + i * q.stride + c);
        }
        to.sums[v_at_ + i] += hn::GetLane(hn::SumOfLanes(d, sum));
      }
      for (size_t l = widths_.size() - 1; l > 0; --l) {
        // h_l = act(z_l),  z_l = W h_{l-1} + b
        const MlpLayer& spec = score_.layers[l - 1];
        through_activation(q, l, d_this, lanes, to.sums + bias_at_[l - 1]);
        const size_t padded = PadToLanes(spec.in);
        PackTransposed({layer(q, l - 1, kH), static_cast<int64_t>(q.stride), 1}, spec.in, t.queries, 1.0f,
                       {turned, padded});
        Gemm<true>({d_this, q.stride, 1}, {turned, padded}, {to.sums + weight_at_[l - 1], padded},
                   {spec.out, padded, t.queries});
        Gemm<false>({spec.weight, 1, static_cast<size_t>(spec.in)}, {d_this, q.stride}, {d_below, q.stride},
                    {spec.in, lanes, spec.out});
        std::swap(d_this, d_below);
      }
      // h_1 = act(q + k)
      float* to_keys = turned;
      std::fill_n(to_keys, dim_, 0.0f);
      through_activation(q, 0, d_this, lanes, to_keys);
      for (size_t i = 0; i < dim_; ++i) {
        for (size_t c = 0; c < lanes; c += kLanes) {
          float* at = to.d_queries + i * q.stride + t.lane + c;
          hn::StoreU(hn::Add(hn::LoadU(d, at), hn::LoadU(d, d_this + i * q.stride + c)), d, at);
        }
        if (to.d_k) *to.d_k.at(t.row + r, static_cast<int64_t>(i)) += to_keys[i];
      }
    }
  }

  void store_query_gradient(const ScoreOperand& q, const float* d_queries, MutableRows d_q) const override {
    for (int r = 0; r < q.count; ++r)
      for (size_t i = 0; i < dim_; ++i) *d_q.at(r, static_cast<int64_t>(i)) = d_queries[i * q.stride + r];
  }

  void zero_gradients() const override {
    const auto zero = [](float* at, int64_t count) {
      if (at) std::fill_n(at, count, 0.0f);
    };
    zero(grad_->d_score_v, static_cast<int64_t>(widths_.back()));
    for (int64_t l = 0; grad_->d_layers && l < score_.layer_count; ++l) {
      zero(grad_->d_layers[l].d_weight, score_.layers[l].in * score_.layers[l].out);
      zero(grad_->d_layers[l].d_bias, score_.layers[l].out);
    }
  }
  void add_gradients(const float* sums, int64_t) const override {
    if (grad_->d_score_v)
      for (size_t i = 0; i < widths_.back(); ++i) grad_->d_score_v[i] += sums[v_at_ + i];
    if (!grad_->d_layers) return;
    for (int64_t l = 0; l < score_.layer_count; ++l) {
      const MlpLayer& spec = score_.layers[l];
      const size_t padded = PadToLanes(spec.in);
      if (float* d_weight = grad_->d_layers[l].d_weight)
        for (int64_t o = 0; o < spec.out; ++o)
          for (int64_t i = 0; i < spec.in; ++i) d_weight[o * spec.in + i] += sums[weight_at_[l] + o * padded + i];
      if (float* d_bias = grad_->d_layers[l].d_bias)
        for (int64_t o = 0; o < spec.out; ++o) d_bias[o] += sums[bias_at_[l] + o];
    }
  }

 private:
  enum Which { kZ, kH };

  /// Layer l of the current key: before (z) or after (h) its activation, [widths_[l], stride].
  float* layer(const ScoreOperand& q, size_t l, Which which) const {
    size_t before = dim_;
    for (size_t i = 0; i < l; ++i) before += 2 * widths_[i];
    return q.scratch + q.stride * (before + (which == kH ? widths_[l] : 0));
  }

  void run_layers(const ScoreOperand& q, const ScoreOperand& k, const Tile& t, int r) const {
    const F32 d;
    const size_t lanes = PadToLanes(t.queries);
    for (size_t l = 0; l < widths_.size(); ++l) {
      float* z = layer(q, l, kZ);
      float* h = layer(q, l, kH);
      if (l > 0) {
        const MlpLayer& spec = score_.layers[l - 1];
        Gemm<false>({spec.weight, static_cast<size_t>(spec.in), 1}, {layer(q, l - 1, kH), q.stride}, {z, q.stride},
                    {spec.out, lanes, spec.in});
      }
      for (size_t i = 0; i < widths_[l]; ++i) {
        const float* bias = l > 0 ? score_.layers[l - 1].bias : nullptr;
        const V32 add = hn::Set(d, l == 0 ? *k.rows.at(t.row + r, static_cast<int64_t>(i)) : bias ? bias[i] : 0.0f);
        const float* from = l == 0 ? q.scratch + i * q.stride + t.lane : z + i * q.stride;
        for (size_t c = 0; c < lanes; c += kLanes) {
          const V32 sum = hn::Add(hn::LoadU(d, from + c), add);
          hn::StoreU(sum, d, z + i * q.stride + c);
          hn::StoreU(Act(score_.activation, sum), d, h + i * q.stride + c);
        }
      }
    }
  }

  /// d_h -> d_z in place; adds each row's sum to `sums`.
  void through_activation(const ScoreOperand& q, size_t l, float* d_h, size_t lanes, float* sums) const {
    const F32 d;
    const float *z = layer(q, l, kZ), *h = layer(q, l, kH);
    for (size_t i = 0; i < widths_[l]; ++i) {
      V32 sum = hn::Zero(d);
      for (size_t c = 0; c < lanes; c += kLanes) {
        const size_t at = i * q.stride + c;
        const V32 d_z =
            hn::Mul(hn::LoadU(d, d_h + at), ActSlope(score_.activation, hn::LoadU(d, z + at), hn::LoadU(d, h + at)));
        hn::StoreU(d_z, d, d_h + at);
        sum = hn::Add(sum, d_z);
      }
      sums[i] += hn::GetLane(hn::SumOfLanes(d, sum));
    }
  }

  const Score& score_;
  size_t dim_;
  const Gradients* grad_;                         // null: forward
  std::pmr::vector<size_t> widths_;               // of h_1, h_2, ...
  std::pmr::vector<size_t> weight_at_, bias_at_;  // in d_parameters; weights with rows padded to whole vectors
  size_t v_at_ = 0, parameters_ = 0, hidden_ = 0, most_ = 0;
};

ArenaPtr<ScoreKernel> MakePairMlp(const Problem& p, const Gradients* grad, CallArena& arena) {
  return arena.make<PairMlp>(p, grad, arena);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {
HWY_EXPORT(MakePairMlp);
ArenaPtr<ScoreKernel> make_pair_mlp(const Problem& p, const Gradients* grad, CallArena& arena) {
  return HWY_DYNAMIC_DISPATCH(MakePairMlp)(p, grad, arena);
}

void check_pair_mlp(const Problem& p, Reasons& reasons) {
  const auto text = [](int64_t n) { return std::to_string(n); };
  const Score& s = p.score;
  reasons.expect(s.v || p.shape.dim == 0, "score.v: expected data, got null");
  reasons.expect(s.layer_count >= 0, "score.layer_count", "0 or more", s.layer_count);
  reasons.expect(s.layers || s.layer_count <= 0,
                 [&] { return "score.layers: expected " + text(s.layer_count) + " layers, got null"; });
  int64_t width = p.shape.dim;
  for (int64_t l = 0; s.layers && l < s.layer_count; ++l) {
    const MlpLayer& layer = s.layers[l];
    const auto name = [&](const char* field) { return "score.layers[" + text(l) + "]." + field + ": expected "; };
    reasons.expect(layer.in == width,
                   [&] { return name("in") + text(width) + ", the width of the layer below, got " + text(layer.in); });
    reasons.expect(layer.out > 0 && layer.out <= kWidest,
                   [&] { return name("out") + "1 to 2^20, got " + text(layer.out); });
    reasons.expect(layer.weight != nullptr, [&] { return name("weight") + "data, got null"; });
    width = layer.out;
  }
}
}  // namespace

const ScoreEntry scores::pair_mlp{
    .make = make_pair_mlp, .check = check_pair_mlp, .has = {.v = true, .layers = true}, .is_expensive = true};
}  // namespace heed::kernels
#endif
