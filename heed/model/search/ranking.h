// The score of a hypothesis, and the best score it can still reach.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/model/search/search.h"

namespace heed::search {

class Ranking {
 public:
  explicit Ranking(const Options& options) : o_(options) {}

  bool needs_coverage() const { return o_.beta != 0.0; }

  /// log p / lp(length) + coverage penalty. `coverage`: of each source token, the sum of its weights so far.
  double score(double log_probability, int64_t length, std::span<const float> coverage) const;

  /// No continuation of this hypothesis ends with a higher score.
  ///
  /// Whatever follows, log p only falls and stays below 0, so of all lengths that can still be reached, [length + 1,
  /// longest], the one with the largest divisor bounds them all. Divisors do not decrease with length (alpha >= 0):
  /// that is `longest`. The coverage penalty is at most 0, and may come arbitrarily close to it.
  double bound(double log_probability) const { return log_probability / divisor(o_.longest); }

 private:
  double divisor(int64_t length) const;

  const Options& o_;
};

/// Adds the weights of one step, if the ranking needs them.
inline void add_coverage(const Ranking& ranking, std::span<const float> weights, std::vector<float>& coverage) {
  if (!ranking.needs_coverage()) return;
  coverage.resize(weights.size());
  for (size_t j = 0; j < weights.size(); ++j) coverage[j] += weights[j];
}

/// Finished ones come first, then those that miss fewer phrases, then those with the higher score.
bool ranks_before(const Hypothesis& a, const Hypothesis& b);
/// In a tie, the earlier one.
void sort_by_rank(std::vector<Hypothesis>& hypotheses);

}  // namespace heed::search
