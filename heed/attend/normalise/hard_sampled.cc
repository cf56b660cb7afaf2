// N4 hard_sampled: one key drawn from softmax, trained by REINFORCE (reinforce.h).   Xu et al. 2015.
// The draw is the running maximum of score + Gumbel noise, in the same pass. Outside training: the expectation or
// argmax.
#include <fmt/format.h>

#include "heed/attend/choices.h"
#include "heed/attend/decay.h"
#include "heed/attend/normalise/normalise.h"

namespace heed::attend {

namespace {
class HardSampled final : public Normalise {
 public:
  explicit HardSampled(const Options& options)
      : samples_(options.samples),
        at_test_(value_of(kAtTest, options.at_test) == AtTest::argmax ? kernels::Normaliser::argmax
                                                                      : kernels::Normaliser::softmax) {}

  void configure(CallContext& c) const override {
    auto& normalise = c.call.problem.normalise;
    if (!c.tape.training()) {
      normalise.kind = at_test_;
      return;
    }
    normalise.kind = kernels::Normaliser::sampled;
    normalise.seed = c.tape.next_seed();
    c.call.want_log_prob = true;
  }
  int64_t runs(const Tape& tape) const override { return tape.training() ? samples_ : 1; }

 private:
  int64_t samples_;
  kernels::Normaliser at_test_;
};

std::unique_ptr<Normalise> make_hard_sampled(const Scope&, const Options& options) {
  return std::make_unique<HardSampled>(options);
}

std::string refuse_bad_sampling(const Options& o, const Parts&) {
  if (o.samples < 1) return fmt::format("hard_sampled needs samples of at least 1, not {}", o.samples);
  if (!has_word(kAtTest, o.at_test))
    return fmt::format("hard_sampled has the values {} for at_test, not '{}'", listed(words_of(kAtTest)), o.at_test);
  if (!(o.baseline_decay >= 0.0f && o.baseline_decay < 1.0f))
    return fmt::format("hard_sampled needs a baseline_decay from 0 to less than 1, not {}", o.baseline_decay);
  if (!(o.entropy_weight >= 0.0f))
    return fmt::format("hard_sampled needs an entropy_weight of 0 or more, not {}", o.entropy_weight);
  if (!has_word(kBaselines, o.baseline))
    return fmt::format("hard_sampled has the values {} for baseline, not '{}'", listed(words_of(kBaselines)),
                       o.baseline);
  if (std::string wrong = decay_complaint("hard_sampled", "entropy", o.entropy_schedule, o.entropy_steps);
      !wrong.empty())
    return wrong;
  return "";
}
}  // namespace

const Entry hard_sampled_entry = {
    .id = "N4",
    .name = "hard_sampled",
    .part = Part::normalise,
    .title = "hard: a key drawn from softmax",
    .formula = "j drawn from softmax(e_i),  a_ij = 1, else 0;  gradient (R - b) d log softmax(e_i)_j",
    .paper =
        "Xu et al. 2015, Show, Attend and Tell: Neural Image Caption Generation with Visual Attention; Williams 1992, "
        "Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning",
    .time = "n m exp, per sample",
    .memory = "3 n",
    .combines = "any score and region (no learned sink); any time behaviour but forced_forward",
    .page =
        "During training, one key is drawn with its softmax probability (or several, and their contexts are averaged). "
        "The model learns from the resulting reward R: log_prob, the logarithm of that probability, is returned with "
        "the context, and Reinforce (heed/attend/reinforce.h) turns it into a loss.\n\n"
        "The gradient of that loss is, on average over the draws, the gradient of the expected loss. All heads and "
        "samples of a query produce its context together, so their log-probabilities add up: the sum over heads and "
        "samples, the mean over queries. A moving average b of the rewards (baseline_decay) is subtracted, which "
        "leaves the mean unchanged and makes the gradient less noisy. With baseline = \"self_critical\" a model "
        "subtracts what the same token is worth without drawing instead: it computes the loss twice, but knows how "
        "hard each token is (Rennie et al. 2017). entropy_weight rewards the entropy of the choices, so that the model "
        "keeps exploring; entropy_schedule lets it fall during training. Models trained from a recipe do all this "
        "automatically, with the "
        "log-probability of the correct token as the reward; b is saved with the model. A choice is rewarded for its "
        "own token only: its effect on later tokens (through input feeding, or a layer above that looks back) is not "
        "counted.\n\n"
        "Outside training the context is the expectation, which is soft attention, or only the best key (at_test = "
        "\"argmax\").",
    .options = "samples at_test baseline baseline_decay entropy_weight entropy_schedule entropy_steps",
    .instead = {.in_encoder = &softmax_entry, .in_decoder = &softmax_entry},
    .draws = true,
    .refuses = refuse_bad_sampling,
    .make_normalise = make_hard_sampled,
};

}  // namespace heed::attend
