// The expected gradients of the objectives with a reward, against all outputs of a tiny model.
#include "heed/train/objective/reward.h"

#include <cmath>
#include <numeric>

#include "heed/base/error.h"
#include "heed/model/search/score.h"
#include "tests/model/slopes.h"
#include "tests/train/objective/tiny.h"

namespace heed::objective::test {
namespace {

/// Everything that two steps can write: nothing, one token and END, two tokens without END.
std::vector<Hypothesis> all_outputs(int64_t sources, int32_t vocabulary) {
  std::vector<Hypothesis> all;
  for (int64_t b = 0; b < sources; ++b) {
    all.push_back({.source = b});
    for (int32_t v = 0; v < vocabulary; ++v) {
      if (v == text::kEnd) continue;
      all.push_back({.source = b, .tokens = {v}});
      for (int32_t w = 0; w < vocabulary; ++w)
        if (w != text::kEnd) all.push_back({.source = b, .tokens = {v, w}, .finished = false});
    }
  }
  return all;
}

std::vector<std::vector<float>> gradients_of(Parameters& parameters) {
  std::vector<std::vector<float>> all;
  for (Parameter& p : parameters) {
    if (!p.has_gradient) p.gradient.assign(p.value.size(), 0.0f);
    all.push_back(p.gradient);
  }
  return all;
}

/// The gradient of every parameter is the slope of loss(), within absolute + relative * slope.
template <class Loss>
void expect_gradients(Parameters& parameters, const Loss& loss, double absolute, double relative) {
  std::mt19937_64 random(1);
  size_t steep = 0;
  for (Parameter& p : parameters) {
    if (!p.has_gradient) p.gradient.assign(p.value.size(), 0.0f);
    const std::vector<double> direction = model::test::direction_for(p, random);
    const double found = std::inner_product(direction.begin(), direction.end(), p.gradient.begin(), 0.0);
    const double right = model::test::slope(p, direction, loss);
    EXPECT_NEAR(found, right, absolute + relative * std::abs(right)) << p.name;
    if (std::abs(right) > 8 * absolute) ++steep;
  }
  EXPECT_GT(steep, 3u) << "too flat to tell anything";
}

class Rewards : public testing::TestWithParam<const char*> {};

TEST_P(Rewards, AllOutputsHaveTheProbabilityOne) {
  Tiny tiny(GetParam(), {{"a", "b"}, {"b a", "a"}});
  data::Batch batch = tiny.batch();
  HypothesisLearner learner(tiny.setting({.name = "reinforce", .reward = "own"}, odd_reward));
  const std::vector<Hypothesis> all = all_outputs(2, 5);
  const std::vector<double> log_p = learner.log_probabilities(batch, all);
  double sum = 0.0;
  for (const double each : log_p) sum += std::exp(each);
  EXPECT_NEAR(sum, 2.0, 1e-5);
}

/// log of the probability of an output where START and UNK have no chance, step by step in double.
double log_probability_drawn(const Tiny& tiny, const data::Batch& batch, const Hypothesis& h) {
  const data::Sources source = batch.sources.pack({&h.source, 1});
  std::vector<int32_t> inputs = {text::kStart}, outputs = h.tokens;
  inputs.insert(inputs.end(), h.tokens.begin(), h.tokens.end());
  if (h.finished) outputs.push_back(text::kEnd);
  const std::vector<int64_t> of_inputs = {0, std::ssize(inputs)};
  double sum = 0.0;
  Tape tape(kQuiet);
  tiny.made.model.each_logits(tape, source, {inputs, of_inputs}, [&](int64_t first, Tensor logits) {
    for (int64_t r = 0; r < logits.rows() && first + r < std::ssize(outputs); ++r) {
      double all = 0.0;
      for (int32_t v = text::kEnd; v < logits.cols(); ++v) all += std::exp(static_cast<double>(logits.row(r)[v]));
      sum += static_cast<double>(logits.row(r)[outputs[static_cast<size_t>(first + r)]]) - std::log(all);
    }
  });
  return sum;
}

/// The mean gradient of 40,000 drawn outputs is the slope of - E[R], which is computed from all outputs that may come.
TEST_P(Rewards, ReinforceFollowsTheExpectedReward) {
  Tiny tiny(GetParam(), {{"a", "b"}, {"b a", "a"}});
  data::Batch batch = tiny.batch();
  const ObjectiveInputs setting =
      tiny.setting({.name = "reinforce", .reward = "own", .hypotheses = 40000, .likelihood_share = 0.0}, odd_reward);
  HypothesisLearner learner(setting);
  std::vector<Hypothesis> all = all_outputs(2, 5);
  std::erase_if(all, [](const Hypothesis& h) {
    return std::any_of(h.tokens.begin(), h.tokens.end(), [](int32_t token) { return token < text::kEnd; });
  });
  ASSERT_EQ(all.size(), 2u * (1 + 2 + 4));
  learner.judge(batch, all);
  const auto expected_loss = [&] {
    double sum = 0.0;
    for (const Hypothesis& h : all) sum -= std::exp(log_probability_drawn(tiny, batch, h)) * h.reward / 2.0;
    return sum;
  };
  const auto objective = reinforce_entry.make(setting);
  Tape tape;
  const PartReport report =
      objective->run(tape, batch, {.share = 0.25, .example_share = 0.5, .updates_before = 0, .seed = 11});
  EXPECT_NEAR(report.reward.value(), -expected_loss(), 0.01);
  EXPECT_NEAR(report.loss, expected_loss(), 0.01);
  expect_gradients(tiny.made.parameters, expected_loss, 0.004, 0.03);
}

/// However likely START and UNK are, no output that is rewarded has them.
TEST_P(Rewards, NothingIsDrawnThatNoTargetHas) {
  Tiny tiny(GetParam(), {{"a", "b"}, {"b a", "a"}});
  Parameter& bias = tiny.made.parameters.at("output.bias");
  bias.value[text::kStart] = bias.value[text::kUnknown] = 5.0f;
  data::Batch batch = tiny.batch();
  HypothesisLearner learner(tiny.setting({.name = "reinforce", .reward = "own", .hypotheses = 50}, odd_reward));
  search::Options nbest;
  nbest.beam = nbest.nbest = 4;
  for (const search::Options& o : {learner.samples(1), nbest, search::Options{}})
    for (const Hypothesis& h : learner.search(batch, o))
      for (const int32_t token : h.tokens) EXPECT_GE(token, text::kSpecials);
}

/// The weights of a given set make the slope of its risk, in double, with and without the reference among it.
TEST_P(Rewards, MinimumRiskFollowsTheRiskOfItsSet) {
  for (const bool with_reference : {true, false}) {
    Tiny tiny(GetParam(), {{"a", "b"}, {"b a", "b b"}});
    data::Batch batch = tiny.batch();
    const Options o{.name = "minimum_risk",
                    .reward = "own",
                    .hypotheses = 4,
                    .hypotheses_by = "nbest",
                    .sharpness = 0.7,
                    .with_reference = with_reference,
                    .likelihood_share = 0.0};
    const ObjectiveInputs setting = tiny.setting(o, odd_reward);
    HypothesisLearner learner(setting);
    search::Options nbest;
    nbest.beam = nbest.nbest = 4;
    std::vector<Hypothesis> set = learner.search(batch, nbest);
    ASSERT_EQ(set.size(), 8u);
    if (with_reference)
      for (const Hypothesis& right : HypothesisLearner::references(batch)) {
        bool found = false;
        for (const Hypothesis& h : set) found |= h.source == right.source && h.finished && h.tokens == right.tokens;
        if (!found) set.push_back(right);
      }
    learner.judge(batch, set);
    const auto risk = [&] {
      const std::vector<double> log_p = learner.log_probabilities(batch, set);
      double all = 0.0;
      for (int64_t b = 0; b < 2; ++b) {
        double total = 0.0, expected = 0.0;
        for (size_t i = 0; i < set.size(); ++i) {
          if (set[i].source != b) continue;
          total += std::exp(0.7 * log_p[i]);
          expected += std::exp(0.7 * log_p[i]) * set[i].reward;
        }
        all -= expected / total / 2.0;
      }
      return all;
    };
    const auto objective = minimum_risk_entry.make(setting);
    Tape tape;
    const PartReport report = objective->run(tape, batch, {.example_share = 0.5, .seed = 3});
    EXPECT_NEAR(report.loss, risk(), 1e-6);
    expect_gradients(tiny.made.parameters, risk, 1e-4, 2e-3);
  }
}

/// A share of the likelihood: the gradients add up, both as means over examples.
TEST_P(Rewards, AShareOfTheLikelihoodIsMixedIn) {
  const auto gradients = [&](double share, bool likelihood_alone) {
    Tiny tiny(GetParam(), {{"a", "b"}, {"b a", "a"}});
    data::Batch batch = tiny.batch();
    const Options o{.name = "minimum_risk", .reward = "own", .likelihood_share = share};
    const UpdatePart part{.share = 0.25, .example_share = 0.5, .seed = 3};
    Tape tape;
    if (likelihood_alone)
      learn_likelihood(tiny.made.model, tape, batch, part, {});
    else
      minimum_risk_entry.make(tiny.setting(o, odd_reward))->run(tape, batch, part);
    return gradients_of(tiny.made.parameters);
  };
  const auto risk = gradients(0.0, false), mixed = gradients(0.25, false), right = gradients(0.0, true);
  for (size_t p = 0; p < mixed.size(); ++p)
    for (size_t i = 0; i < mixed[p].size(); ++i)
      EXPECT_NEAR(mixed[p][i], 0.75 * risk[p][i] + 0.25 * (0.5 / 0.25) * right[p][i], 1e-5);
}

INSTANTIATE_TEST_SUITE_P(, Rewards, testing::Values("rnn", "transformer"));

TEST(MetricReward, IsAtMostOneAndErrorsAreTurnedRound) {
  const std::vector<RewardCase> cases = {{"s", "a b c d", {"x", "a b c d"}}, {"s", "a b", {"a c"}}, {"s", "", {"a"}}};
  const auto rewards = [&](const char* name) { return metric_reward(name)(cases); };
  EXPECT_EQ(rewards("exact"), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(rewards("ser"), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(rewards("wer"), (std::vector<double>{1, 0.5, 0}));
  EXPECT_EQ(rewards("per"), (std::vector<double>{1, 0.5, 0}));
  EXPECT_EQ(rewards("cer").at(0), 1.0);
  for (const char* name : {"bleu", "chrf", "chrf++", "ter"}) {
    const std::vector<double> found = rewards(name);
    EXPECT_NEAR(found[0], 1.0, 1e-9) << name;
    EXPECT_LT(found[1], 1.0) << name;
    EXPECT_GT(found[0], found[1]) << name;
    EXPECT_GE(found[1], found[2]) << name;
  }
}

/// More errors than the reference has words.
TEST(MetricReward, OfAnErrorRateMayBeBelowZero) {
  const std::vector<RewardCase> cases = {{"s", "x y z", {"a"}}};
  EXPECT_EQ(metric_reward("per")(cases).front(), 1.0 - 3.0);
  EXPECT_EQ(metric_reward("exact")(cases).front(), 0.0);
  for (const char* name : {"bleu", "chrf", "chrf++"}) EXPECT_GE(metric_reward(name)(cases).front(), 0.0) << name;
}

TEST(MetricReward, AllNamesWork) {
  for (const std::string& name : reward_names())
    if (name != "own") {
      EXPECT_EQ(metric_reward(name)(std::vector<RewardCase>{{"s", "a", {"a"}}}).size(), 1u) << name;
    }
}

TEST(OwnReward, BadAnswersAreRefused) {
  Tiny tiny("rnn", {{"a", "b"}});
  data::Batch batch = tiny.batch();
  const Options o{.name = "reinforce", .reward = "own"};
  const auto message = [&](const RewardFunction& reward) -> std::string {
    try {
      Tape tape;
      reinforce_entry.make(tiny.setting(o, reward))->run(tape, batch, {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message({}).find("a function is needed"), std::string::npos);
  EXPECT_NE(message([](auto) { return std::vector<double>{}; }).find("returned 0 numbers"), std::string::npos);
  EXPECT_NE(message([](auto cases) { return std::vector<double>(cases.size(), NAN); }).find("returned nan"),
            std::string::npos);
  EXPECT_THROW(HypothesisLearner(tiny.setting({.name = "reinforce"}, odd_reward)), Error);
}

/// A source with several right targets is judged by all of them.
TEST(OwnReward, KnowsAllReferences) {
  Tiny tiny("rnn", {{"a", "b"}, {"a", "a a"}, {"b", "a"}});
  data::Batch batch = tiny.batch();
  std::vector<std::vector<std::string>> seen;
  HypothesisLearner learner(tiny.setting({.name = "reinforce", .reward = "own"}, [&](auto cases) {
    for (const RewardCase& each : cases) seen.push_back(each.references);
    return std::vector<double>(cases.size(), 0.0);
  }));
  std::vector<Hypothesis> all = HypothesisLearner::references(batch);
  learner.judge(batch, all);
  EXPECT_EQ(seen, (std::vector<std::vector<std::string>>{{"b", "a a"}, {"b", "a a"}, {"a"}}));
}

TEST(Objectives, RefuseWhatHasNoEffect) {
  const auto problems_of = [](const Options& o, const std::string& task = "seq2seq",
                              const char* normalise = "softmax") {
    model::Options m;
    m.task = task;
    m.attention.normalise = normalise;
    std::string all;
    for (const std::string& each : problems(o, m)) all += each + "\n";
    return all;
  };
  EXPECT_EQ(problems_of({}), "");
  for (const Entry* entry : all()) EXPECT_EQ(problems_of({.name = entry->name}), "") << entry->name;
  EXPECT_NE(problems_of({.sampling_most = 0.5}).find("train.sampling_most has no effect"), std::string::npos);
  EXPECT_NE(problems_of({.name = "reinforce", .sharpness = 1.0}).find("\"minimum_risk\""), std::string::npos);
  EXPECT_NE(problems_of({.name = "reinforce", .hypotheses_by = "nbest"}).find("must be \"samples\""),
            std::string::npos);
  EXPECT_NE(problems_of({.name = "reinforce"}, "classification").find("\"classification\""), std::string::npos);
  EXPECT_NE(problems_of({.name = "minimum_risk"}, "seq2seq", "hard_sampled").find("hard_sampled"), std::string::npos);
  EXPECT_EQ(problems_of({}, "classification"), "");
}

}  // namespace
}  // namespace heed::objective::test
