#pragma once

#include "heed/attend/score/score.h"

namespace heed::attend {

/// The key alone decides: v^T tanh(W h), or tanh(w^T h + b). The score of `self_scored` and of `feed_forward`.
class SelfScored final : public Score {
 public:
  SelfScored(const Scope& scope, const Options& options);
  Tensor queries(Tensor q) const override;
  Tensor keys(Tensor k) const override;
  void configure(CallContext& c) const override;
  bool reads_queries() const override { return false; }

 private:
  Linear hidden_;
  Parameter* v_ = nullptr;
};

}  // namespace heed::attend
