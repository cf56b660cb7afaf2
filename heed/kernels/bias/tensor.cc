// A bias tensor read at [b, h, i, j] through strides, any of them 0, or at [h, packed row, j].
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/bias/tensor.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>

#include "heed/kernels/bias/bias.h"
#include "heed/kernels/loop/sequence.h"
#include "heed/kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

class TensorBias final : public BiasKernel {
 public:
  TensorBias(const Problem& p, float* d_tensor)
      : p_(p),
        bias_(p.bias),
        d_tensor_(d_tensor),
        most_queries_(d_tensor ? most_queries(p) : 0),
        most_keys_(d_tensor ? most_keys(p) : 0) {}

  void add(const Tile& t, const Sequence&) const override {
    // +inf must win without producing NaN: it becomes the largest bias that still leaves room to add.
    constexpr float kMost = 1e38f;
    const Rows rows{bias_.tensor + offset(t), bias_.query, bias_.key};
    ForTransposed(rows, t.queries, t.keys, [&](auto d, size_t query, size_t key, auto v) HWY_ATTR {
      float* at = t.at + key * t.stride + query;
      hn::StoreU(hn::Add(hn::LoadU(d, at), hn::Min(hn::Set(d, kMost), v)), d, at);
    });
  }

  void backward(const Tile& t, const Sequence&, float*) const override {
    if (!d_tensor_) return;
    float* base = d_tensor_ + offset(t);
    if (bias_.key == 0) return add_over_keys(t, base);
    if (bias_.query == 0) return add_over_queries(t, base);
    ForTransposed(Rows{t.at, static_cast<int64_t>(t.stride), 1}, t.keys, t.queries,
                  [&](auto d, size_t key, size_t query, auto v) HWY_ATTR {
                    float* at =
                        base + static_cast<int64_t>(query) * bias_.query + static_cast<int64_t>(key) * bias_.key;
                    if (bias_.key == 1) {
                      hn::StoreU(hn::Add(hn::LoadU(d, at), v), d, at);
                      return;
                    }
                    float values[hn::MaxLanes(d)];
                    hn::StoreU(v, d, values);
                    for (size_t i = 0; i < hn::MaxLanes(d); ++i) at[static_cast<int64_t>(i) * bias_.key] += values[i];
                  });
  }

  void zero_gradients() const override {
    if (!d_tensor_) return;
    const PairStrides strides = pair_strides(bias_);
    const bool own = strides.per_sequence();
    for (int64_t b = 0; b < (own ? p_.shape.batch : 1); ++b) {
      Sequence s{.queries = most_queries_, .keys = most_keys_};
      if (own) s = sequence(p_, b);
      Tile row{.packed_query = s.first_query, .batch = b};
      for (row.head = 0; row.head < (bias_.head ? p_.shape.heads : 1); ++row.head)
        for (int64_t i = 0; i < (bias_.query ? s.queries : 1); ++i)
          for (int64_t j = 0; j < (bias_.key ? s.keys : 1); ++j)
            d_tensor_[row.row_in(strides) + i * bias_.query + j * bias_.key] = 0.0f;
    }
  }

  // One slot per stored part of the tensor: an axis with stride 0 is one part.
  size_t places(const Geometry& g) const override {
    if (!d_tensor_) return 0;
    return static_cast<size_t>(p_.shape.batch * p_.shape.heads * query_blocks(g) * key_blocks(g));
  }
  size_t place(const Geometry& g, const BlockTask& t, int32_t key_block) const override {
    const int64_t b = pair_strides(bias_).per_sequence() ? t.batch : 0, h = bias_.head ? t.head : 0;
    const int64_t i = bias_.query ? t.first_query / g.width : 0, j = bias_.key ? key_block : 0;
    return static_cast<size_t>(((b * p_.shape.heads + h) * query_blocks(g) + i) * key_blocks(g) + j);
  }

 private:
  int64_t query_blocks(const Geometry& g) const { return most_queries_ / g.width + 1; }
  int64_t key_blocks(const Geometry& g) const { return most_keys_ / g.keys + 1; }

  // An axis of stride 0 is summed within the tile first, in the lanes of a vector: then one number per tile is added to
  // the user's float. Pair by pair, the rounding errors of a long sum would add up.

  /// d[query] += sum_key g[key][query]; without a query axis, d += the sum of all.
  void add_over_keys(const Tile& t, float* d_bias) const {
    const F32 d;
    V32 all = hn::Zero(d);
    for (int c = 0; c < t.queries; c += kLanes) {
      V32 sum = hn::Zero(d);
      for (int r = 0; r < t.keys; ++r) sum = hn::Add(sum, hn::LoadU(d, t.at + r * t.stride + c));
      const int count = std::min<int>(kLanes, t.queries - c);
      all = hn::Add(all, hn::IfThenElseZero(hn::FirstN(d, count), sum));
      if (bias_.query == 0) continue;
      float sums[kLanes];
      hn::StoreU(sum, d, sums);
      for (int i = 0; i < count; ++i) d_bias[(c + i) * bias_.query] += sums[i];
    }
    if (bias_.query == 0) *d_bias += hn::GetLane(hn::SumOfLanes(d, all));
  }

  /// d[key] += sum_query g[key][query]
  void add_over_queries(const Tile& t, float* d_bias) const {
    const F32 d;
    for (int r = 0; r < t.keys; ++r) {
      V32 sum = hn::Zero(d);
      for (int c = 0; c < t.queries; c += kLanes) {
        const V32 g = hn::LoadU(d, t.at + r * t.stride + c);
        sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, std::min<int>(kLanes, t.queries - c)), g));
      }
      d_bias[r * bias_.key] += hn::GetLane(hn::SumOfLanes(d, sum));
    }
  }

  int64_t offset(const Tile& t) const { return t.row_in(pair_strides(bias_)) + t.key * bias_.key; }

  const Problem& p_;
  const Bias& bias_;
  float* d_tensor_;
  int64_t most_queries_, most_keys_;
};

ArenaPtr<BiasKernel> MakeTensorBias(const Problem& p, float* d_tensor, CallArena& arena) {
  return arena.make<TensorBias>(p, d_tensor);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(MakeTensorBias);
ArenaPtr<BiasKernel> make_tensor_bias(const Problem& p, float* d_tensor, CallArena& arena) {
  return HWY_DYNAMIC_DISPATCH(MakeTensorBias)(p, d_tensor, arena);
}
}  // namespace heed::kernels
#endif
