// score = scale * <q, k>: dot, scaled dot, cosine of unit vectors, general (q' = W^T q), projected.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/score/inner.cc"
#include "hwy/foreach_target.h"  // compiles this file once per instruction set
#include "hwy/highway.h"

#include <cmath>

#include "heed/kernels/loop/prefetch_queue.h"
#include "heed/kernels/score/score.h"
#include "heed/kernels/simd/dots-inl.h"
#include "heed/kernels/simd/gemm-inl.h"
#include "heed/kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

class Inner final : public ScoreKernel {
 public:
  Inner(const Problem& p, bool backward)
      : dim_(p.shape.dim), padded_(PadToLanes(dim_)), scale_(p.score.scale), backward_(backward) {}

  double cost_of_pair() const override { return static_cast<double>(dim_); }
  const char* explain(int64_t queries) const override {
    if (queries > kFewQueries) return nullptr;
    return "too few queries to fill the lanes of a tile, so keys are read along their width";
  }

  // Queries: Q^T [D, width] for the scores, then for dK the scaled rows [width, padded D]. Few queries: their scaled
  // rows.
  size_t query_floats(size_t width) const override { return dim_ * width + width * padded_; }
  // Keys: the rows as whole vectors unless they already are, then a tile's dK.
  size_t key_floats(size_t keys) const override { return 2 * keys * padded_; }
  size_t query_gradient_floats(size_t width) const override { return width * padded_; }

  void load_queries(const ScoreOperand& q) const override {
    if (q.count <= kFewQueries && !backward_)
      PackRows(q.rows, q.count, dim_, scale_, {q.scratch, padded_});
    else
      PackTransposed(q.rows, q.count, dim_, scale_, {q.scratch, q.stride});
    if (backward_) PackRows(q.rows, q.count, dim_, scale_, {q.scratch + dim_ * q.stride, padded_});
  }

  void load_keys(const ScoreOperand& k) const override {
    if (backward_) MakeWholeVectors(k.rows, k.count, dim_, k.scratch);
  }

  // S^T [keys, queries] = K [keys, D] Q^T [D, queries]
  void forward(const ScoreOperand& q, const ScoreOperand& k, const Tile& t) const override {
    const Rows keys = k.rows.from(t.row);
    if (q.count <= kFewQueries && !backward_) return few_queries(q, keys, t);
    Gemm<false>({keys.data, static_cast<size_t>(keys.row), static_cast<size_t>(keys.col)},
                {q.scratch + t.lane, q.stride}, {t.at, t.stride}, {t.keys, PadToLanes(t.queries), dim_});
  }

  // d_q += dS K,  d_k += dS^T (scale Q)
  void backward(const ScoreOperand& q, const ScoreOperand& k, const Tile& t, const ScoreGradients& to) const override {
    const VectorRows keys = WholeVectors(k.rows, dim_, k.scratch);
    Gemm<true>({t.at, 1, t.stride}, {keys.row(t.row), keys.stride}, {to.d_queries + t.lane * padded_, padded_},
               {t.queries, padded_, t.keys});
    if (!to.d_k) return;
    const float* queries = q.scratch + dim_ * q.stride + t.lane * padded_;
    const MutableRows target = to.d_k.from(t.row);
    if (InPlace(to.d_k, dim_)) {
      Gemm<true>({t.at, t.stride, 1}, {queries, padded_}, {target.data, target.row}, {t.keys, padded_, t.queries});
    } else {
      float* sum = k.scratch + k.count * padded_;
      Gemm<false>({t.at, t.stride, 1}, {queries, padded_}, {sum, padded_}, {t.keys, padded_, t.queries});
      AddRows(sum, padded_, t.keys, dim_, target);
    }
  }

  void store_query_gradient(const ScoreOperand& q, const float* d_queries, MutableRows d_q) const override {
    UnpackRows({d_queries, padded_}, q.count, dim_, scale_, d_q);
  }

 private:
  // Below this many queries the lanes of a tile would be mostly empty: the lanes then run along D. (Transposing the
  // keys on the fly, which keeps the order of the sum, took longer: docs/kernels.md.)
  static constexpr int kFewQueries = 4;

  void few_queries(const ScoreOperand& q, Rows keys, const Tile& t) const {
    const float* query = q.scratch + t.lane * padded_;
    if (keys.col != 1) {
      for (int i = 0; i < t.queries; ++i, query += padded_)
        for (int r = 0; r < t.keys; ++r) {
          float sum = 0.0f;
          for (size_t c = 0; c < dim_; ++c) sum += query[c] * *keys.at(r, static_cast<int64_t>(c));
          t.at[r * t.stride + i] = sum;
        }
      return;
    }
    // Four keys at a time: more rows in flight from memory.
    constexpr int kKeys = 4;
    const int64_t padded = static_cast<int64_t>(padded_);
    PrefetchQueue& ahead = PrefetchQueue::of_this_thread();
    int r = 0;
    for (; r + kKeys <= t.keys; r += kKeys) {
      const float* key = keys.data + r * keys.row;
      const PrefetchQueue::Steps steps = ahead.take(kKeys * dim_, sizeof(float), query);
      const Fetch fetch{reinterpret_cast<const float*>(steps.at), static_cast<int64_t>(dim_)};
      for (int i = 0; i < t.queries; ++i) {
        float score[kKeys];
        if (i == 0 && steps.step > 0)
          Dots<1, kKeys, kKeys>({query, padded}, {key, keys.row}, dim_, fetch, score);
        else
          Dots<1, kKeys, 0>({query + i * padded_, padded}, {key, keys.row}, dim_, {}, score);
        for (int k = 0; k < kKeys; ++k) t.at[(r + k) * t.stride + i] = score[k];
      }
    }
    for (; r < t.keys; ++r)
      for (int i = 0; i < t.queries; ++i)
        Dots<1, 1, 0>({query + i * padded_, padded}, {keys.data + r * keys.row, 0}, dim_, {}, t.at + r * t.stride + i);
  }

  size_t dim_, padded_;
  float scale_;
  bool backward_;
};

ArenaPtr<ScoreKernel> MakeInner(const Problem& p, const Gradients* grad, CallArena& arena) {
  return arena.make<Inner>(p, grad != nullptr);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {
HWY_EXPORT(MakeInner);
ArenaPtr<ScoreKernel> make_inner(const Problem& p, const Gradients* grad, CallArena& arena) {
  return HWY_DYNAMIC_DISPATCH(MakeInner)(p, grad, arena);
}

void check_inner(const Problem& p, Reasons& reasons) {
  reasons.expect(std::isfinite(p.score.scale), "score.scale", "a finite number", p.score.scale);
}
}  // namespace

const ScoreEntry scores::inner{.make = make_inner, .check = check_inner, .is_inner_product = true};
}  // namespace heed::kernels
#endif
