// G3 REINFORCE with a self-critical baseline: the expected reward of outputs that the model draws.   Williams 1992;
// Rennie et al. 2017.
//
//   loss = - mean over sources of 1/K sum_k (R(y_k) - R(greedy)) log p(y_k),    y_k drawn from p
//
// p is the model's distribution over what may be written: START, UNK and the like have no chance and no share of it.
//
// Its expected gradient is that of - E[R]: the reward of the greedy output does not depend on what is drawn. An output
// that is worth as much as the greedy one has no gradient, and costs nothing. A share of the likelihood keeps the model
// near the right outputs (Wu et al. 2016, equation 9).
#include "heed/train/objective/hypotheses.h"

namespace heed::objective {

namespace {

class Reinforce final : public Objective {
 public:
  explicit Reinforce(const ObjectiveInputs& s) : setting_(s), learner_(s) {}

  PartReport run(Tape& tape, data::Batch& batch, const UpdatePart& part) override {
    const Options& o = setting_.options;
    std::vector<Hypothesis> drawn = learner_.search(batch, learner_.samples(part.seed));
    std::vector<Hypothesis> greedy = learner_.search(batch, {});
    learner_.judge(batch, drawn);
    learner_.judge(batch, greedy);
    const double of_one = part.example_share / static_cast<double>(o.hypotheses);
    double reward = 0.0;
    for (Hypothesis& h : drawn) {
      const double drawn_share = of_one * static_cast<double>(h.count);
      reward += drawn_share * h.reward;
      h.weight = drawn_share * (h.reward - greedy[static_cast<size_t>(h.source)].reward);
    }
    return learner_.learn(tape, batch, part, {drawn, reward, learner_.never()});
  }
  bool has_one_backward() const override { return false; }

 private:
  ObjectiveInputs setting_;
  HypothesisLearner learner_;
};

std::string refuse_reinforce(const Options& o, const model::Options& model) {
  if (o.hypotheses_by != "samples")
    return "train.objective = \"reinforce\" draws its outputs: train.hypotheses_by must be \"samples\"";
  return refuse_reward(o, model);
}

}  // namespace

const Entry reinforce_entry = {
    .name = "reinforce",
    .meaning = "the expected reward of drawn outputs, compared with that of the greedy one",
    .keys = "reward hypotheses hypotheses_by likelihood_share",
    .needs_writer = true,
    .needs_pairs = true,
    .needs_trained = true,
    .refuses = refuse_reinforce,
    .make = [](const ObjectiveInputs& s) -> std::unique_ptr<Objective> { return std::make_unique<Reinforce>(s); },
};

}  // namespace heed::objective
