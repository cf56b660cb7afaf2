// score = scale * <q, k>: dot, scaled dot, cosine of unit vectors, general (q' = W^T q), projected.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/score/inner.cc"
#include "hwy/foreach_target.h"  // compiles this file once per instruction set
#include "hwy/highway.h"

#include <algorithm>

#include "heed/kernels/score/score.h"
#include "heed/kernels/simd/gemm-inl.h"
#include "heed/kernels/simd/rows-inl.h"
#include "heed/kernels/simd/sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

class Inner final : public ScoreKernel {
 public:
  Inner(const Problem& p, bool backward)
      : dim_(p.shape.dim), padded_(PadToLanes(dim_)), scale_(p.score.scale), backward_(backward) {}

  // Queries: Q^T [D, width] for the scores, then for dK the scaled rows [width, padded D]. Few queries: their scaled
  // rows.
  size_t query_floats(size_t width) const override { return dim_ * width + width * padded_; }
  // Keys: the rows as whole vectors where they do not stand so, then a tile's dK.
  size_t key_floats(size_t keys) const override { return 2 * keys * padded_; }
  size_t query_gradient_floats(size_t width) const override { return width * padded_; }

  void load_queries(const Prepared& q, int64_t) const override {
    if (q.count <= kFewQueries && !backward_)
      PackRows(q.rows, q.count, dim_, scale_, q.scratch, padded_);
    else
      PackTransposed(q.rows, q.count, dim_, scale_, q.scratch, q.stride);
    if (backward_) PackRows(q.rows, q.count, dim_, scale_, q.scratch + dim_ * q.stride, padded_);
  }

  void load_keys(const Prepared& k, int64_t) const override {
    if (backward_) MakeWholeVectors(k.rows, k.count, dim_, k.scratch);
  }

  // S^T [keys, queries] = K [keys, D] Q^T [D, queries]
  void forward(const Prepared& q, const Prepared& k, const Tile& t) const override {
    const Rows keys = k.rows.from(t.row);
    if (q.count <= kFewQueries && !backward_) return few_queries(q, keys, t);
    Gemm<false>({keys.data, static_cast<size_t>(keys.row), static_cast<size_t>(keys.col)}, q.scratch + t.lane, q.stride,
                t.at, t.stride, t.keys, PadToLanes(t.queries), dim_);
  }

  // d_q += dS K,  d_k += dS^T (scale Q)
  void backward(const Prepared& q, const Prepared& k, const Tile& t, float* d_queries, MutableRows d_k,
                float*) const override {
    const VectorRows keys = WholeVectors(k.rows, dim_, k.scratch);
    Gemm<true>({t.at, 1, t.stride}, keys.row(t.row), keys.stride, d_queries + t.lane * padded_, padded_, t.queries,
               padded_, t.keys);
    if (!d_k) return;
    const float* queries = q.scratch + dim_ * q.stride + t.lane * padded_;
    const MutableRows target = d_k.from(t.row);
    if (InPlace(d_k, dim_)) {
      Gemm<true>({t.at, t.stride, 1}, queries, padded_, target.data, target.row, t.keys, padded_, t.queries);
    } else {
      float* sum = k.scratch + k.count * padded_;
      Gemm<false>({t.at, t.stride, 1}, queries, padded_, sum, padded_, t.keys, padded_, t.queries);
      AddRows(sum, padded_, t.keys, dim_, target);
    }
  }

  void store_query_gradient(const Prepared& q, const float* d_queries, MutableRows d_q) const override {
    UnpackRows(d_queries, padded_, q.count, dim_, scale_, d_q);
  }

 private:
  // Below this many queries the lanes of a tile would stand empty: the lanes then run along D.
  // (Turning the keys as they come, which keeps the order of the sum, took longer: docs/kernels.md.)
  static constexpr int kFewQueries = 4;

  void few_queries(const Prepared& q, Rows keys, const Tile& t) const {
    const F32 d;
    const size_t whole = keys.col == 1 ? dim_ / kLanes * kLanes : 0;
    Ahead& ahead = Ahead::of_this_thread();
    for (int i = 0; i < t.queries; ++i) {
      const float* query = q.scratch + (t.lane + i) * padded_;
      // Four keys at a time: more rows on their way from memory at once. Past the end the last key comes again.
      for (int r = 0; r < t.keys; r += 4) {
        Ahead::Steps fetch = ahead.take(4 * (whole / kLanes), query);
        const float* key[4];
        V32 sum[4];
        for (int k = 0; k < 4; ++k) {
          key[k] = keys.data + std::min(r + k, t.keys - 1) * keys.row;
          sum[k] = hn::Zero(d);
        }
        for (size_t c = 0; c < whole; c += kLanes) {
          const V32 x = hn::LoadU(d, query + c);
#pragma GCC unroll 4
          for (int k = 0; k < 4; ++k) {
            sum[k] = hn::MulAdd(x, hn::LoadU(d, key[k] + c), sum[k]);
            __builtin_prefetch(fetch.at, 0, 2);
            fetch.at += fetch.step;
          }
        }
        float score[4];
        SumLanes(sum, score);
        for (int k = 0; k < 4 && r + k < t.keys; ++k) {
          for (size_t c = whole; c < dim_; ++c) score[k] += query[c] * key[k][static_cast<int64_t>(c) * keys.col];
          t.at[(r + k) * t.stride + i] = score[k];
        }
      }
    }
  }

  size_t dim_, padded_;
  float scale_;
  bool backward_;
};

Part<ScoreKernel> MakeInner(const Problem& p, bool backward, Arena& arena) { return arena.make<Inner>(p, backward); }

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(MakeInner);
Part<ScoreKernel> make_inner(const Problem& p, bool backward, Arena& arena) {
  return HWY_DYNAMIC_DISPATCH(MakeInner)(p, backward, arena);
}
}  // namespace heed::kernels
#endif
