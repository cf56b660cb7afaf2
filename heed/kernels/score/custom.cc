// A user's own score, and the list of all scores.
#include <algorithm>

#include "heed/kernels/loop/custom_tile.h"
#include "heed/kernels/score/score.h"

namespace heed::kernels {
namespace {

class UserScore final : public ScoreKernel {
 public:
  UserScore(const Problem& p) : dim_(p.shape.dim), custom_(*p.score.custom) {}

  // The user sees contiguous rows, whatever the strides were.
  size_t query_floats(size_t width) const override { return width * dim_; }
  size_t key_floats(size_t keys) const override { return 2 * keys * dim_; }
  size_t query_gradient_floats(size_t width) const override { return width * dim_; }
  size_t parameter_floats() const override { return static_cast<size_t>(custom_.parameters); }

  void load_queries(const ScoreOperand& q, int64_t) const override { copy_rows(q, q.scratch); }
  void load_keys(const ScoreOperand& k, int64_t) const override { copy_rows(k, k.scratch); }

  void forward(const ScoreOperand& q, const ScoreOperand& k, const Tile& t) const override {
    custom_.forward(custom_.self, view(q, k, t));
  }

  void backward(const ScoreOperand& q, const ScoreOperand& k, const Tile& t, float* d_queries, MutableRows d_k,
                float* d_parameters) const override {
    float* d_keys = k.scratch + static_cast<size_t>(k.count) * dim_;
    std::fill_n(d_keys, static_cast<size_t>(t.keys) * dim_, 0.0f);
    custom_.backward(custom_.self, view(q, k, t), d_queries + static_cast<size_t>(t.lane) * dim_, d_keys, d_parameters);
    if (!d_k) return;
    for (int r = 0; r < t.keys; ++r)
      for (size_t c = 0; c < dim_; ++c)
        *d_k.at(t.row + r, static_cast<int64_t>(c)) += d_keys[static_cast<size_t>(r) * dim_ + c];
  }

  void store_query_gradient(const ScoreOperand& q, const float* d_queries, MutableRows d_q) const override {
    for (int r = 0; r < q.count; ++r)
      for (size_t c = 0; c < dim_; ++c)
        *d_q.at(r, static_cast<int64_t>(c)) = d_queries[static_cast<size_t>(r) * dim_ + c];
  }

  void add_parameter_gradient(const float* d_parameters, int64_t, const Gradients& grad) const override {
    if (grad.d_custom_score)
      for (int64_t i = 0; i < custom_.parameters; ++i) grad.d_custom_score[i] += d_parameters[i];
  }

 private:
  void copy_rows(const ScoreOperand& from, float* to) const {
    for (int r = 0; r < from.count; ++r)
      for (size_t c = 0; c < dim_; ++c)
        to[static_cast<size_t>(r) * dim_ + c] = *from.rows.at(r, static_cast<int64_t>(c));
  }

  CustomTile view(const ScoreOperand& q, const ScoreOperand& k, const Tile& t) const {
    CustomTile tile = custom_tile(t);
    tile.q = q.scratch + static_cast<size_t>(t.lane) * dim_;
    tile.k = k.scratch + static_cast<size_t>(t.row) * dim_;
    tile.q_stride = tile.k_stride = tile.dim = static_cast<int64_t>(dim_);
    return tile;
  }

  size_t dim_;
  const CustomScore& custom_;
};

}  // namespace

ArenaPtr<ScoreKernel> make_custom(const Problem& p, bool, CallArena& arena) { return arena.make<UserScore>(p); }

ArenaPtr<ScoreKernel> make_score(const Problem& p, bool backward, CallArena& arena) {
  switch (p.score.kind) {
    case ScoreKind::inner:
      return make_inner(p, backward, arena);
    case ScoreKind::tanh_sum:
      return make_tanh_sum(p, backward, arena);
    case ScoreKind::pair_mlp:
      return make_pair_mlp(p, backward, arena);
    case ScoreKind::custom:
      return make_custom(p, backward, arena);
    case ScoreKind::none:
      return nullptr;
  }
  return nullptr;
}

}  // namespace heed::kernels
