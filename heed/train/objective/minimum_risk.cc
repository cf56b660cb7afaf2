// G3 minimum risk training: the expected reward over a set of hypotheses, which share all the probability.   Shen et
// al. 2016.
//
//   loss = - mean over sources of sum_k q_k R(y_k),    q_k = p(y_k)^alpha / sum_l p(y_l)^alpha
//
// The gradient of - sum_k q_k R_k with respect to - log p(y_k) is alpha q_k (R_k - sum_l q_l R_l): the likelihood of
// the hypotheses, with that as the weight of each. The set counts as given: it is drawn, or the n-best of a beam
// search, each different output once.
#include <algorithm>

#include "heed/kernels/exact_math.h"
#include "heed/train/objective/hypotheses.h"

namespace heed::objective {

namespace {

class MinimumRisk final : public Objective {
 public:
  explicit MinimumRisk(const ObjectiveInputs& s) : setting_(s), learner_(s) {}

  PartReport run(Tape& tape, data::Batch& batch, const UpdatePart& part) override {
    std::vector<Hypothesis> all = find(batch, part.seed);
    learner_.judge(batch, all);
    const double reward = part.example_share * weigh(batch, all, part.example_share);
    return learner_.learn(tape, batch, part, {all, reward});
  }
  bool has_one_backward() const override { return false; }

 private:
  /// The hypotheses, by source.
  std::vector<Hypothesis> find(const data::Batch& batch, uint64_t seed) {
    const Options& o = setting_.options;
    search::Options nbest;
    nbest.beam = nbest.nbest = o.hypotheses;
    const bool drawn = value_of(kHypothesesBy, o.hypotheses_by) == HypothesesBy::samples;
    std::vector<Hypothesis> all = learner_.search(batch, drawn ? learner_.samples(seed) : nbest);
    if (!o.with_reference) return all;
    for (Hypothesis& right : HypothesisLearner::references(batch)) {
      const bool found = std::any_of(all.begin(), all.end(), [&](const Hypothesis& h) {
        return h.source == right.source && h.finished && h.tokens == right.tokens;
      });
      if (!found) all.push_back(std::move(right));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Hypothesis& a, const Hypothesis& b) { return a.source < b.source; });
    return all;
  }

  /// Fills in the weights, times `scale`. Returns the sum over sources of their expected rewards.
  double weigh(const data::Batch& batch, std::vector<Hypothesis>& all, double scale) {
    const double alpha = setting_.options.sharpness;
    const std::vector<double> log_p = learner_.log_probabilities(batch, all);
    double sum = 0.0;
    for (size_t first = 0, next = 0; first < all.size(); first = next) {
      while (next < all.size() && all[next].source == all[first].source) ++next;
      const double largest =
          *std::max_element(log_p.begin() + static_cast<int64_t>(first), log_p.begin() + static_cast<int64_t>(next));
      double total = 0.0, expected = 0.0;
      for (size_t i = first; i < next; ++i) {
        all[i].weight = exact::exp(alpha * (log_p[i] - largest));
        total += all[i].weight;
        expected += all[i].weight * all[i].reward;
      }
      expected /= total;
      sum += expected;
      for (size_t i = first; i < next; ++i)
        all[i].weight = scale * alpha * all[i].weight / total * (all[i].reward - expected);
    }
    return sum;
  }

  ObjectiveInputs setting_;
  HypothesisLearner learner_;
};

std::string refuse_minimum_risk(const Options& o, const model::Options& model) {
  if (o.hypotheses + (o.with_reference ? 1 : 0) < 2)
    return "train.objective = \"minimum_risk\" compares hypotheses: train.hypotheses = 1 needs train.with_reference";
  return refuse_reward(o, model);
}

}  // namespace

const Entry minimum_risk_entry = {
    .name = "minimum_risk",
    .meaning = "the expected reward over a few hypotheses, drawn or the n-best",
    .keys = "reward hypotheses hypotheses_by sharpness with_reference likelihood_share",
    .needs_writer = true,
    .needs_pairs = true,
    .needs_trained = true,
    .refuses = refuse_minimum_risk,
    .make = [](const ObjectiveInputs& s) -> std::unique_ptr<Objective> { return std::make_unique<MinimumRisk>(s); },
};

}  // namespace heed::objective
