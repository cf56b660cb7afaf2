// Logits -> the distribution that samples are drawn from: sharpened or flattened by a temperature, cut to the most
// likely tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/model/search/search.h"

namespace heed::search {

class TokenDistribution {
 public:
  explicit TokenDistribution(const Options& options) : o_(options) {}

  void set(const float* logits, int64_t count);

  /// p of token(i) is weights()[i] / sum(); some may be 0.
  std::span<const double> weights() const { return weights_; }
  double sum() const { return sum_; }
  int32_t token(size_t i) const { return all_ ? static_cast<int32_t>(i) : best_[i]; }

  /// For u uniform in [0, 1).
  int32_t draw(double u) const;

 private:
  double weight(float logit, float largest) const;
  void set_best(const float* logits, int64_t count);
  double take_best(const float* logits, int64_t count, int64_t k);
  double sum_of_all(const float* logits, int64_t count) const;
  double cut(double wanted);

  const Options& o_;
  bool all_ = true;
  std::vector<int32_t> best_;
  std::vector<double> weights_;
  double sum_ = 0.0;
};

}  // namespace heed::search
