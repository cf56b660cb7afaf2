#include "heed/model/search/token_distribution.h"

#include <algorithm>

#include "heed/kernels/exact_math.h"
#include "heed/model/search/best_tokens.h"

namespace heed::search {

namespace {
constexpr int64_t kFirst = 64;  // tokens that are tried first where top_p alone says how many
}

double TokenDistribution::weight(float logit, float largest) const {
  return exact::exp((static_cast<double>(logit) - largest) / o_.temperature);
}

void TokenDistribution::set(const float* logits, int64_t count) {
  all_ = o_.top_p >= 1.0 && (o_.top_k == 0 || o_.top_k >= count);
  if (!all_) return set_best(logits, count);
  const float largest = *std::max_element(logits, logits + count);
  weights_.resize(static_cast<size_t>(count));
  sum_ = 0.0;
  for (int64_t v = 0; v < count; ++v) sum_ += weights_[static_cast<size_t>(v)] = weight(logits[v], largest);
}

/// With top_p alone the number of tokens is not known in advance. It is usually small, so growing numbers are tried.
void TokenDistribution::set_best(const float* logits, int64_t count) {
  const int64_t most = o_.top_k > 0 ? std::min(o_.top_k, count) : count;
  int64_t k = o_.top_k > 0 ? most : std::min(kFirst, most);
  sum_ = take_best(logits, count, k);
  if (o_.top_p >= 1.0) return;
  const double wanted = o_.top_p * (k == most ? sum_ : sum_of_all(logits, count));
  while (sum_ < wanted && k < most) sum_ = take_best(logits, count, k = std::min(most, 4 * k));
  sum_ = cut(wanted);
}

/// The sum of the weights of the k best.
double TokenDistribution::take_best(const float* logits, int64_t count, int64_t k) {
  best_.resize(static_cast<size_t>(k));
  best_of_row(logits, count, k, best_.data());
  weights_.clear();
  double sum = 0.0;
  for (const int32_t v : best_) sum += weights_.emplace_back(weight(logits[v], logits[best_[0]]));
  return sum;
}

double TokenDistribution::sum_of_all(const float* logits, int64_t count) const {
  double sum = 0.0;
  for (int64_t v = 0; v < count; ++v) sum += weight(logits[v], logits[best_[0]]);
  return sum;
}

/// The first that reach `wanted` stay; their sum.
double TokenDistribution::cut(double wanted) {
  double sum = 0.0;
  size_t kept = 0;
  while (kept < weights_.size() && (kept == 0 || sum < wanted)) sum += weights_[kept++];
  weights_.resize(kept);
  return sum;
}

/// The first up to which the weights add up to more than u * sum(); the last one with a weight if none.
int32_t TokenDistribution::draw(double u) const {
  const double target = u * sum_;
  double sum = 0.0;
  size_t last = 0;
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] <= 0.0) continue;
    sum += weights_[i];
    last = i;
    if (sum > target) break;
  }
  return token(last);
}

}  // namespace heed::search
