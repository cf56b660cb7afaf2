#pragma once

#include <vector>

#include "heed/attend/score/score.h"

namespace heed::attend {

/// v^T act(W1 k + W2 q + b), and more hidden layers between. The score of `additive` and of `mlp`.
/// Parameters: key.weight [hidden, Dk], query.weight [hidden, Dq], bias [hidden], v [hidden]; layer.l.weight,
/// layer.l.bias.
class PairNetwork final : public Score {
 public:
  PairNetwork(const Scope& scope, const Options& options);
  Tensor queries(Tensor q) const override;
  Tensor keys(Tensor k) const override;
  void configure(CallContext& c) const override;

 private:
  struct Layer {
    Parameter* weight;
    Parameter* bias;
  };
  kernels::MlpActivation activation_;
  Linear query_, key_;
  Parameter* bias_;
  Parameter* v_;
  std::vector<Layer> layers_;
};

}  // namespace heed::attend
