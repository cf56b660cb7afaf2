#include "heed/model/search/ranking.h"

#include <algorithm>

#include "heed/kernels/exact_math.h"

namespace heed::search {

namespace {
constexpr double kLeastCoverage = 1e-6;
}

double Ranking::divisor(int64_t length) const {
  const auto n = static_cast<double>(length);
  return o_.length == LengthNormalisation::mean ? n : exact::power((5.0 + n) / 6.0, o_.alpha);
}

double Ranking::score(double log_probability, int64_t length, std::span<const float> coverage) const {
  double penalty = 0.0;
  if (needs_coverage())
    for (const float sum : coverage) penalty += exact::log(std::clamp<double>(sum, kLeastCoverage, 1.0));
  return log_probability / divisor(length) + o_.beta * penalty;
}

bool ranks_before(const Hypothesis& a, const Hypothesis& b) {
  if (a.finished != b.finished) return a.finished;
  return a.missing.size() != b.missing.size() ? a.missing.size() < b.missing.size() : a.score > b.score;
}

void sort_by_rank(std::vector<Hypothesis>& hypotheses) {
  std::stable_sort(hypotheses.begin(), hypotheses.end(), ranks_before);
}

}  // namespace heed::search
