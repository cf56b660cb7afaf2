// G2 scheduled sampling: the decoder reads its own token instead of the right one with a probability that grows, so
// that it learns to go on after its own mistakes.   Bengio, Vinyals, Jaitly and Shazeer 2015.
//
//   p(t) = most min(1, t / n)                                       linear
//          most (1 - 0.1^(t / n))                                   exponential
//          most (1 - k / (k + exp(t / k))),  k log k = n / 2        inverse_sigmoid: half of it after n / 2 updates
//
// No gradient passes through a token. So the inputs are made first, without gradients, and then the ordinary loss is
// that of the right tokens given these inputs. Its own tokens are found step by step, each given the mixed inputs
// before it: the paper's algorithm. Or by whole passes: the first reads the right tokens (Mihaylova and Martins 2019),
// each further one the inputs that the last one made (Duckworth et al. 2019), which fits a Transformer.
#include <algorithm>
#include <span>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/data/batch.h"
#include "heed/kernels/exact_math.h"
#include "heed/model/generator.h"
#include "heed/train/objective/all.h"
#include "heed/train/objective/noise.h"
#include "heed/train/objective/sampling_schedule.h"

namespace heed::objective {

namespace {

int32_t best_token(const float* logits, std::span<const int32_t> readable) {
  int32_t best = readable.front();
  for (const int32_t v : readable)
    if (logits[v] > logits[best]) best = v;
  return best;
}

/// `u` from 0 to 1 is a place in the probabilities of all these tokens, one after another.
int32_t drawn_token(const float* logits, std::span<const int32_t> readable, double u) {
  const float largest = logits[best_token(logits, readable)];
  const auto weight = [&](int32_t v) { return exact::exp(static_cast<double>(logits[v]) - largest); };
  double sum = 0.0, passed = 0.0;
  for (const int32_t v : readable) sum += weight(v);
  for (const int32_t v : readable) {
    passed += weight(v);
    if (passed > u * sum) return v;
  }
  return readable.back();
}

/// Which rows of a batch read the model's own token, and how it is chosen there. A row's numbers depend on the seed and
/// its place alone.
class Coins {
 public:
  /// `readable`: see readable_tokens(); it must outlive this.
  Coins(const data::Targets& targets, double probability, OwnToken token, std::span<const int32_t> readable,
        uint64_t seed)
      : token_(token), readable_(readable) {
    own_.resize(targets.in.size());
    places_.resize(own_.size());
    for (size_t r = 0; r < own_.size(); ++r) {
      text::Random random(seed, r);
      own_[r] = uniform(random) < probability;
      places_[r] = uniform(random);
    }
    for (const int64_t first : targets.offsets)
      if (first < std::ssize(own_)) own_[static_cast<size_t>(first)] = false;  // START
  }

  bool own(int64_t row) const { return own_[static_cast<size_t>(row)]; }
  int32_t token(int64_t row, const float* logits) const {
    return token_ == OwnToken::best ? best_token(logits, readable_)
                                    : drawn_token(logits, readable_, places_[static_cast<size_t>(row)]);
  }

 private:
  OwnToken token_;
  std::span<const int32_t> readable_;
  std::vector<bool> own_;
  std::vector<double> places_;
};

class ScheduledSampling final : public Objective {
 public:
  explicit ScheduledSampling(const ObjectiveInputs& s)
      : model_(s.model),
        options_(s.options),
        label_smoothing_(s.label_smoothing),
        readable_(readable_tokens(*s.vocabularies.target)) {
    expect(model_.generator() != nullptr, "scheduled_sampling: the model cannot write outputs token by token");
    if (options_.sampling_steps == 0) options_.sampling_steps = s.updates / 2;
    expect(options_.sampling_steps > 0,
           "train.objective = \"scheduled_sampling\": the number of updates is not known, so half of it is not either: "
           "set train.sampling_steps, stop.steps or stop.epochs");
  }

  PartReport run(Tape& tape, data::Batch& batch, const UpdatePart& part) override {
    const double probability = own_token_probability(options_, part.updates_before);
    const Coins coins(batch.targets, probability, value_of(kOwnTokens, options_.sampling_token), readable_, part.seed);
    add_noise(batch.targets, options_, readable_, part.seed);
    // Running text goes on from what a text of any length left behind: all of its tokens at once.
    const int64_t passes = std::max<int64_t>(options_.sampling_passes, batch.sources.size() == 0 ? 1 : 0);
    if (probability > 0) passes > 0 ? mix_by_passes(batch, coins, passes) : mix_by_steps(batch, coins);
    return learn_likelihood(model_, tape, batch, part, {.label_smoothing = label_smoothing_});
  }
  bool has_one_backward() const override { return true; }

 private:
  void mix_by_passes(data::Batch& batch, const Coins& coins, int64_t passes) {
    const std::vector<int32_t> right = batch.targets.in;
    for (int64_t pass = 0; pass < passes; ++pass) {
      std::vector<int32_t> next = right;
      plain_.reset();
      model_.teacher_forced_logits(plain_, batch, [&](int64_t first, Tensor logits) {
        for (int64_t r = 0; r < logits.rows(); ++r) {
          const int64_t to = first + r + 1;  // what this row writes is read there
          if (to < std::ssize(next) && coins.own(to)) next[static_cast<size_t>(to)] = coins.token(to, logits.row(r));
        }
      });
      batch.targets.in = std::move(next);
    }
  }

  void mix_by_steps(data::Batch& batch, const Coins& coins) {
    data::Targets& targets = batch.targets;
    const auto at = [&](int64_t b) { return targets.offsets[static_cast<size_t>(b)]; };
    int64_t longest = 0;
    for (int64_t b = 0; b < targets.size(); ++b) longest = std::max(longest, at(b + 1) - at(b));
    plain_.reset();
    const std::unique_ptr<decode::State> state = model_.generator()->start(plain_, batch.sources, longest);
    std::vector<int32_t> tokens(static_cast<size_t>(targets.size()));
    for (int64_t t = 0; t + 1 < longest; ++t) {
      for (int64_t b = 0; b < targets.size(); ++b)  // an ended one repeats its last token, unused
        tokens[static_cast<size_t>(b)] = targets.in[static_cast<size_t>(std::min(at(b) + t, at(b + 1) - 1))];
      plain_.reset();  // the state is outside it
      const Tensor logits = model_.generator()->step(tokens, *state, plain_);
      for (int64_t b = 0; b < targets.size(); ++b)
        if (const int64_t to = at(b) + t + 1; to < at(b + 1) && coins.own(to))
          targets.in[static_cast<size_t>(to)] = coins.token(to, logits.row(b));
    }
  }

  const model::Model& model_;
  Options options_;
  float label_smoothing_;
  std::vector<int32_t> readable_;
  Tape plain_{TapeOptions{.recording = false, .training = false}};
};

}  // namespace

const Entry scheduled_sampling_entry = {
    .name = "scheduled_sampling",
    .meaning = "the likelihood of the right outputs, where the decoder reads some tokens of its own",
    .keys =
        "noise_wrong noise_dropped noise_swapped sampling_schedule sampling_most sampling_steps sampling_token "
        "sampling_passes",
    .needs_writer = true,
    .needs_pairs = false,
    .needs_trained = false,
    .refuses = nullptr,
    .make = [](const ObjectiveInputs& s) -> std::unique_ptr<Objective> {
      return std::make_unique<ScheduledSampling>(s);
    },
};

}  // namespace heed::objective
