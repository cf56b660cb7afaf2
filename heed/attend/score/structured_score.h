#pragma once

#include "heed/attend/score/score.h"
#include "heed/tensor/op/activation.h"

namespace heed::attend {

/// q . tanh(W k) (+ b inside): the score under learned queries, of `structured` and of `hierarchical`.
class TanhKeys final : public Score {
 public:
  TanhKeys(const Scope& scope, int64_t key_width, int64_t hidden, bool bias)
      : hidden_(scope, key_width, hidden, bias), width_(hidden) {}
  Tensor keys(Tensor k) const override { return tanh(hidden_(k)); }
  void configure(CallContext& c) const override {
    c.call.problem.score.kind = kernels::ScoreKind::inner;
    c.call.problem.score.scale = 1.0f;
  }
  int64_t query_width() const override { return width_; }

 private:
  Linear hidden_;
  int64_t width_;
};

}  // namespace heed::attend
