// score = scale * <q, k>: dot, scaled dot, cosine of unit vectors, general (q' = W^T q), projected.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/score/inner.cc"
#include "hwy/foreach_target.h"  // compiles this file once per instruction set
#include "hwy/highway.h"

#include "heed/kernels/score/score.h"
#include "heed/kernels/simd/gemm-inl.h"
#include "heed/kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

class Inner final : public ScoreKernel {
 public:
  Inner(const Problem& p, bool backward)
      : dim_(p.shape.dim), padded_(PadToLanes(dim_)), scale_(p.score.scale), backward_(backward) {}

  // Queries: Q^T [D, width] for the scores, then for dK the scaled rows [width, padded D].
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
    Gemm<false>({keys.data, static_cast<size_t>(keys.row), static_cast<size_t>(keys.col)}, q.scratch + t.lane, q.stride, t.at,
                t.stride, t.keys, PadToLanes(t.queries), dim_);
  }

  // d_q += dS K,  d_k += dS^T (scale Q)
  void backward(const Prepared& q, const Prepared& k, const Tile& t, float* d_queries, MutableRows d_k, float*) const override {
    const VectorRows keys = WholeVectors(k.rows, dim_, k.scratch);
    Gemm<true>({t.at, 1, t.stride}, keys.row(t.row), keys.stride, d_queries + t.lane * padded_, padded_, t.queries, padded_, t.keys);
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
  // Below this many queries the lanes of a tile would stand empty: keys are then read along D, once for all queries.
  static constexpr int kFewQueries = 4;

  void few_queries(const Prepared& q, Rows keys, const Tile& t) const {
    const F32 d;
    const bool contiguous = keys.col == 1;
    for (int r = 0; r < t.keys; ++r) {
      const float* key = keys.data + r * keys.row;
      for (int c = 0; c < t.queries; ++c) {
        const float* query = q.scratch + (t.lane + c) * padded_;
        V32 sum0 = hn::Zero(d), sum1 = hn::Zero(d);
        size_t i = 0;
        if (contiguous) {
          for (; i + 2 * kLanes <= dim_; i += 2 * kLanes) {
            sum0 = hn::MulAdd(hn::LoadU(d, query + i), hn::LoadU(d, key + i), sum0);
            sum1 = hn::MulAdd(hn::LoadU(d, query + i + kLanes), hn::LoadU(d, key + i + kLanes), sum1);
          }
        }
        float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
        for (; i < dim_; ++i) sum += query[i] * key[i * keys.col];
        t.at[r * t.stride + c] = sum;
      }
    }
  }

  size_t dim_, padded_;
  float scale_;
  bool backward_;
};

std::unique_ptr<ScoreKernel> MakeInner(const Problem& p, bool backward) { return std::make_unique<Inner>(p, backward); }

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(MakeInner);
std::unique_ptr<ScoreKernel> make_inner(const Problem& p, bool backward) { return HWY_DYNAMIC_DISPATCH(MakeInner)(p, backward); }
}  // namespace heed::kernels
#endif
