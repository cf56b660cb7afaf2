#include "heed/compare/alignment.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/exact_math.h"

namespace heed::compare {

namespace {

constexpr double kLn2 = 0.69314718055994530942;

/// Of the sizes of the weights; 0: the row does not count.
double size_of(const std::vector<float>& row) {
  double sum = 0;
  for (const float w : row) sum += std::abs(static_cast<double>(w));
  return std::isfinite(sum) ? sum : 0;
}

double entropy_of(const std::vector<float>& row, double sum) {
  double nats = 0;
  for (const float w : row) {
    const double p = std::abs(static_cast<double>(w)) / sum;
    if (p > 0) nats -= p * exact::log(p);
  }
  return nats / kLn2;
}

}  // namespace

void AlignmentFacts::add(const std::vector<std::vector<float>>& alignment, bool in_order) {
  std::optional<int64_t> before;
  for (const std::vector<float>& row : alignment) {
    const double sum = size_of(row);
    if (sum == 0) continue;
    entropy_ += entropy_of(row, sum);
    ++rows_;
    const int64_t most = std::max_element(row.begin(), row.end()) - row.begin();
    if (before && in_order) {
      ++steps_;
      forward_ += most >= *before ? 1 : 0;
    }
    before = most;
  }
}

std::optional<double> AlignmentFacts::entropy() const {
  if (rows_ == 0) return {};
  return std::max(0.0, entropy_ / static_cast<double>(rows_));
}

std::optional<double> AlignmentFacts::monotonicity() const {
  if (steps_ == 0) return {};
  return static_cast<double>(forward_) / static_cast<double>(steps_);
}

}  // namespace heed::compare
