#pragma once

#include "heed/attend/score/score.h"

namespace heed::attend {

/// q^T W k: the score of `general` and of `intra`.
class General final : public Score {
 public:
  General(const Scope& scope, const Options& options)
      : weight_(&scope.make_weight("weight", {options.query_width, options.key_width}, Initialiser::xavier(),
                                   WeightOrder::in_out)) {}
  Tensor queries(Tensor q) const override { return matmul(q, q.tape().parameter(*weight_)); }
  void configure(CallContext& c) const override {
    c.call.problem.score.kind = kernels::ScoreKind::inner;
    c.call.problem.score.scale = 1.0f;
  }

 private:
  Parameter* weight_;
};

}  // namespace heed::attend
