// What an update minimises: the [train] section of a recipe. all.h lists the objectives, docs/training.md explains
// them.
#pragma once

#include <cstdint>
#include <string>

#include "heed/base/choice.h"

namespace heed::objective {

struct Options {
  std::string name = "likelihood";  // train.objective

  // likelihood, scheduled_sampling: shares of the tokens that the decoder reads
  double noise_wrong = 0.0;
  double noise_dropped = 0.0;
  double noise_swapped = 0.0;

  // scheduled_sampling: how likely the decoder reads its own token instead of the right one
  std::string sampling_schedule = "linear";
  double sampling_most = 0.25;
  int64_t sampling_steps = 0;
  std::string sampling_token = "best";
  int64_t sampling_passes = 0;

  // reinforce, minimum_risk
  std::string reward = "exact";
  int64_t hypotheses = 5;
  std::string hypotheses_by = "samples";
  double sharpness = 0.2;
  bool with_reference = true;
  double likelihood_share = 0.1;
};

/// Calls visit(name, field, meaning) for every option but the name, in order.
template <class O, class Visit>
void each_option(O& o, Visit&& visit) {
  visit("noise_wrong", o.noise_wrong,
        "likelihood, scheduled_sampling: share of the tokens read by the decoder that a random one replaces");
  visit("noise_dropped", o.noise_dropped,
        "likelihood, scheduled_sampling: share of the tokens read by the decoder that the unknown one replaces");
  visit("noise_swapped", o.noise_swapped,
        "likelihood, scheduled_sampling: share of the tokens read by the decoder that change places with the next one");
  visit("sampling_schedule", o.sampling_schedule,
        "scheduled_sampling: how the probability grows that the decoder reads its own token instead of the right one");
  visit("sampling_most", o.sampling_most, "scheduled_sampling: the largest probability");
  visit("sampling_steps", o.sampling_steps,
        "scheduled_sampling: updates until it is reached, or nearly; 0: half of all updates");
  visit("sampling_token", o.sampling_token, "scheduled_sampling: its own token: the best one, or one that is drawn");
  visit("sampling_passes", o.sampling_passes,
        "scheduled_sampling: 0: its own tokens are found step by step (running text: by one pass); otherwise by this "
        "many passes over whole targets");
  visit("reward", o.reward,
        "reinforce, minimum_risk: what an output is worth: a metric (error rates count as 1 - rate), or own: a "
        "function of the program");
  visit("hypotheses", o.hypotheses, "reinforce, minimum_risk: outputs of each source");
  visit("hypotheses_by", o.hypotheses_by, "minimum_risk: samples, or nbest: those of a beam search");
  visit("sharpness", o.sharpness, "minimum_risk: a hypothesis counts with its probability to the power of this");
  visit("with_reference", o.with_reference, "minimum_risk: the right output is one of the hypotheses");
  visit("likelihood_share", o.likelihood_share,
        "reinforce, minimum_risk: share of the likelihood of the right outputs in the loss");
}

enum class Growth { linear, exponential, inverse_sigmoid };
enum class OwnToken { best, drawn };
enum class HypothesesBy { samples, nbest };

inline constexpr Choice<Growth> kGrowths[] = {
    {"linear", Growth::linear}, {"exponential", Growth::exponential}, {"inverse_sigmoid", Growth::inverse_sigmoid}};
inline constexpr Choice<OwnToken> kOwnTokens[] = {{"best", OwnToken::best}, {"drawn", OwnToken::drawn}};
inline constexpr Choice<HypothesesBy> kHypothesesBy[] = {{"samples", HypothesesBy::samples},
                                                         {"nbest", HypothesesBy::nbest}};

}  // namespace heed::objective
