// A number made of everything that comes out: sums with random factors, the same for the library and the reference.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/reduce.h"
#include "tests/attend/case.h"

namespace heed::attend::test {

inline constexpr float kPenaltyFactor = 0.3f;

/// A factor for each number of one output.
inline const std::vector<float>& factors(uint64_t which, int64_t count) {
  static std::map<std::pair<uint64_t, int64_t>, std::vector<float>> known;
  std::vector<float>& f = known[{which, count}];
  Random random(1000 + which);
  while (static_cast<int64_t>(f.size()) < count) f.push_back(static_cast<float>(random.normal()));
  return f;
}

enum Output : uint64_t { kContext, kEntropy, kGuideCost, kLogProb };

inline Tensor loss_of(const Attended& a, Tape& tape) {
  const auto part = [&](Output which, Tensor t) {
    const std::vector<float>& f = factors(which, t.size());
    return weighted_sum(t, tape.keep(std::span<const float>(f)));
  };
  Tensor loss = part(kContext, a.context);
  if (a.entropy) loss = add(loss, part(kEntropy, a.entropy));
  if (a.guide_cost) loss = add(loss, part(kGuideCost, a.guide_cost));
  if (a.log_prob) loss = add(loss, part(kLogProb, a.log_prob));
  if (a.penalty) loss = add(loss, scale(a.penalty, kPenaltyFactor));
  return loss;
}

inline double loss_of(const Result& r, const Request& request) {
  const auto part = [](Output which, const Matrix& m) {
    const std::vector<float>& f = factors(which, m.rows * m.cols);
    double sum = 0.0;
    for (size_t n = 0; n < f.size(); ++n) sum += f[n] * m.data[n];
    return sum;
  };
  double loss = part(kContext, r.context);
  if (request.entropy) loss += part(kEntropy, r.entropy);
  if (request.guide_cost) loss += part(kGuideCost, r.guide_cost);
  if (r.log_prob.rows > 0) loss += part(kLogProb, r.log_prob);
  if (request.penalty) loss += static_cast<double>(kPenaltyFactor) * r.penalty;
  return loss;
}

}  // namespace heed::attend::test
