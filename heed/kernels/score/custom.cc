// User-defined scores.
#include <algorithm>

#include "heed/kernels/loop/custom_tile.h"
#include "heed/kernels/score/score.h"

namespace heed::kernels {
namespace {

class UserScore final : public ScoreKernel {
 public:
  UserScore(const Problem& p, float* d_parameters)
      : dim_(p.shape.dim), custom_(*p.score.custom), d_parameters_(d_parameters) {}

  double cost_of_pair() const override { return kMuchWork; }

  // The user sees contiguous rows, whatever the strides were.
  size_t query_floats(size_t width) const override { return width * dim_; }
  size_t key_floats(size_t keys) const override { return 2 * keys * dim_; }
  size_t query_gradient_floats(size_t width) const override { return width * dim_; }
  size_t gradient_floats() const override { return static_cast<size_t>(custom_.parameters); }

  void load_queries(const ScoreOperand& q) const override { copy_rows(q, q.scratch); }
  void load_keys(const ScoreOperand& k) const override { copy_rows(k, k.scratch); }

  void forward(const ScoreOperand& q, const ScoreOperand& k, const Tile& t) const override {
    custom_.forward(custom_.self, view(q, k, t));
  }

  void backward(const ScoreOperand& q, const ScoreOperand& k, const Tile& t, const ScoreGradients& to) const override {
    float* d_keys = k.scratch + static_cast<size_t>(k.count) * dim_;
    std::fill_n(d_keys, static_cast<size_t>(t.keys) * dim_, 0.0f);
    custom_.backward(custom_.self, view(q, k, t), to.d_queries + static_cast<size_t>(t.lane) * dim_, d_keys, to.sums);
    if (!to.d_k) return;
    for (int r = 0; r < t.keys; ++r)
      for (size_t c = 0; c < dim_; ++c)
        *to.d_k.at(t.row + r, static_cast<int64_t>(c)) += d_keys[static_cast<size_t>(r) * dim_ + c];
  }

  void store_query_gradient(const ScoreOperand& q, const float* d_queries, MutableRows d_q) const override {
    for (int r = 0; r < q.count; ++r)
      for (size_t c = 0; c < dim_; ++c)
        *d_q.at(r, static_cast<int64_t>(c)) = d_queries[static_cast<size_t>(r) * dim_ + c];
  }

  void zero_gradients() const override {
    if (d_parameters_) std::fill_n(d_parameters_, custom_.parameters, 0.0f);
  }
  void add_gradients(const float* sums, int64_t) const override {
    if (d_parameters_)
      for (int64_t i = 0; i < custom_.parameters; ++i) d_parameters_[i] += sums[i];
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
  float* d_parameters_;
};

ArenaPtr<ScoreKernel> make_custom(const Problem& p, const Gradients* grad, CallArena& arena) {
  return arena.make<UserScore>(p, grad ? grad->d_custom_score : nullptr);
}

void check_custom(const Problem& p, Reasons& reasons) {
  const CustomScore* custom = p.score.custom;
  reasons.expect(custom && custom->forward && custom->backward,
                 "score.custom: expected the result of custom_score(), got null");
}

}  // namespace

const ScoreEntry scores::custom{
    .make = make_custom, .check = check_custom, .has = {.custom = true}, .is_expensive = true};

}  // namespace heed::kernels
