#include <algorithm>
#include <cmath>

#include "heed/train/objective/sampling_schedule.h"
#include "tests/threads.h"
#include "tests/train/objective/tiny.h"

namespace heed::objective::test {
namespace {

TEST(SamplingSchedule, GrowsAsTheFormulasSay) {
  Options o{.name = "scheduled_sampling", .sampling_most = 0.5, .sampling_steps = 1000};
  const auto at = [&](const char* kind, int64_t update) {
    o.sampling_schedule = kind;
    return own_token_probability(o, update);
  };
  EXPECT_EQ(at("linear", 0), 0.0);
  EXPECT_NEAR(at("linear", 250), 0.125, 1e-12);
  EXPECT_EQ(at("linear", 1000), 0.5);
  EXPECT_EQ(at("linear", 9000), 0.5);
  EXPECT_EQ(at("exponential", 0), 0.0);
  EXPECT_NEAR(at("exponential", 500), 0.5 * (1 - std::sqrt(0.1)), 1e-12);
  EXPECT_NEAR(at("exponential", 1000), 0.45, 1e-12);
  EXPECT_LT(at("inverse_sigmoid", 0), 0.01);
  EXPECT_NEAR(at("inverse_sigmoid", 500), 0.25, 1e-9);
  EXPECT_GT(at("inverse_sigmoid", 1000), 0.49);
  EXPECT_NEAR(at("inverse_sigmoid", 10'000'000), 0.5, 1e-12);
  for (const char* kind : {"linear", "exponential", "inverse_sigmoid"})
    for (const int64_t steps : {1, 2, 10, 100000}) {
      o.sampling_steps = steps;
      double before = 0.0;
      for (int64_t update = 0; update < 3 * steps; update += std::max<int64_t>(steps / 10, 1)) {
        const double p = at(kind, update);
        EXPECT_GE(p, before) << kind;
        EXPECT_LE(p, 0.5) << kind;
        before = p;
      }
    }
}

const std::vector<std::pair<std::string, std::string>> kPairs = {
    {"a b a", "b a a b a"}, {"b", "a"}, {"a a b b a", "b b a b"}, {"b a", "a a b"}};

/// The inputs after a run, with probability `most`.
std::vector<int32_t> mixed(const Tiny& tiny, double most, int64_t passes, const char* token = "best",
                           uint64_t seed = 7) {
  ObjectiveInputs setting = tiny.setting({.name = "scheduled_sampling",
                                          .sampling_most = most,
                                          .sampling_steps = 1,
                                          .sampling_token = token,
                                          .sampling_passes = passes});
  data::Batch batch = tiny.batch();
  Tape tape;
  scheduled_sampling_entry.make(setting)->run(tape, batch, {.share = 0.1, .updates_before = 5, .seed = seed});
  return batch.targets.in;
}

/// The best token after each row of the inputs that an output may have, by the whole model at once. [rows]
std::vector<int32_t> best_after(const Tiny& tiny, const std::vector<int32_t>& inputs) {
  const data::Batch batch = tiny.batch();
  std::vector<int32_t> best(inputs.size());
  Tape tape(kQuiet);
  tiny.made.model.each_logits(tape, batch.sources, {inputs, batch.targets.offsets}, [&](int64_t first, Tensor logits) {
    for (int64_t r = 0; r < logits.rows(); ++r) {
      int32_t token = text::kSpecials;
      for (int32_t v = text::kSpecials; v < logits.cols(); ++v)
        if (logits.row(r)[v] > logits.row(r)[token]) token = v;
      best[static_cast<size_t>(first + r)] = token;
    }
  });
  return best;
}

class ScheduledSampling : public testing::TestWithParam<const char*> {};

TEST_P(ScheduledSampling, WholeTargetsGiveTheLogitsOfSteps) {
  const Tiny tiny(GetParam(), kPairs);
  data::Batch batch = tiny.batch();
  const data::Targets& targets = batch.targets;
  const auto logits_of = [&](bool by_steps) {
    std::vector<std::vector<float>> all(targets.in.size());
    Tape tape(kQuiet);
    const auto keep = [&](int64_t first, Tensor logits) {
      for (int64_t r = 0; r < logits.rows(); ++r)
        all[static_cast<size_t>(first + r)].assign(logits.row(r), logits.row(r) + logits.cols());
    };
    const model::PackedIds inputs{targets.in, targets.offsets};
    if (by_steps)
      tiny.made.model.model::Generator::each_logits(tape, batch.sources, inputs, keep);
    else
      tiny.made.model.each_logits(tape, batch.sources, inputs, keep);
    return all;
  };
  const auto at_once = logits_of(false), by_steps = logits_of(true);
  for (size_t r = 0; r < at_once.size(); ++r) {
    ASSERT_EQ(at_once[r].size(), 5u);
    for (size_t v = 0; v < 5; ++v) EXPECT_NEAR(at_once[r][v], by_steps[r][v], 1e-5) << r;
  }
}

/// Step by step, every own token is the best one after the inputs before it: the definition.
TEST_P(ScheduledSampling, StepByStepItReadsWhatItWouldWrite) {
  const Tiny tiny(GetParam(), kPairs);
  data::Batch batch = tiny.batch();
  const data::Targets& targets = batch.targets;
  for (const double most : {1.0, 0.5}) {
    const std::vector<int32_t> inputs = mixed(tiny, most, 0), best = best_after(tiny, inputs);
    int64_t own = 0;
    for (int64_t b = 0; b < targets.size(); ++b)
      for (int64_t r = targets.offsets[b]; r < targets.offsets[b + 1]; ++r) {
        const auto at = static_cast<size_t>(r);
        if (r == targets.offsets[b]) {
          EXPECT_EQ(inputs[at], text::kStart);
        } else if (most == 1.0) {
          EXPECT_EQ(inputs[at], best[at - 1]);
        } else {
          EXPECT_TRUE(inputs[at] == best[at - 1] || inputs[at] == targets.in[at]);
          own += inputs[at] != targets.in[at] ? 1 : 0;
        }
      }
    if (most < 1.0) {
      EXPECT_GT(own, 0);
    }
  }
}

/// One pass reads what the right tokens lead to; as many as the longest target has tokens give the steps' inputs.
TEST_P(ScheduledSampling, PassesComeToTheSteps) {
  const Tiny tiny(GetParam(), kPairs);
  data::Batch batch = tiny.batch();
  const data::Targets& targets = batch.targets;
  const std::vector<int32_t> one = mixed(tiny, 1.0, 1), best = best_after(tiny, targets.in);
  for (int64_t b = 0; b < targets.size(); ++b)
    for (int64_t r = targets.offsets[b] + 1; r < targets.offsets[b + 1]; ++r)
      EXPECT_EQ(one[static_cast<size_t>(r)], best[static_cast<size_t>(r) - 1]);
  for (const double most : {1.0, 0.5}) EXPECT_EQ(mixed(tiny, most, 6), mixed(tiny, most, 0));
}

TEST_P(ScheduledSampling, DependsOnTheSeedAlone) {
  const Tiny tiny(GetParam(), kPairs);
  for (const char* token : {"best", "drawn"})
    for (const int64_t passes : {0, 1}) {
      const std::vector<int32_t> first = mixed(tiny, 0.5, passes, token);
      const heed::test::Threads two(2);
      EXPECT_EQ(mixed(tiny, 0.5, passes, token), first);
    }
  EXPECT_NE(mixed(tiny, 0.5, 0, "drawn", 8), mixed(tiny, 0.5, 0, "drawn", 9));
}

/// START, END and UNK are in no output, so nothing is learned from reading them, however likely they are.
TEST_P(ScheduledSampling, ReadsOnlyWhatASearchMayWrite) {
  Tiny tiny(GetParam(), kPairs);
  Parameter& bias = tiny.made.parameters.at("output.bias");
  for (int32_t special = 0; special < text::kSpecials; ++special) bias.value[static_cast<size_t>(special)] = 5.0f;
  data::Batch batch = tiny.batch();
  const std::vector<int32_t>& right = batch.targets.in;
  for (const char* token : {"best", "drawn"})
    for (const int64_t passes : {0, 1}) {
      const std::vector<int32_t> inputs = mixed(tiny, 1.0, passes, token);
      for (size_t r = 0; r < inputs.size(); ++r)
        EXPECT_EQ(inputs[r] < text::kSpecials, right[r] == text::kStart) << token << r;
    }
}

INSTANTIATE_TEST_SUITE_P(, ScheduledSampling, testing::Values("rnn", "transformer"));

TEST(ScheduledSamplingShare, IsTheProbability) {
  // A model whose best token is never a right one: an input that is not right is its own.
  std::vector<std::pair<std::string, std::string>> pairs(200, {"a", "b b b b b b b b b b b b b b b"});
  Tiny tiny("rnn", pairs);
  Parameter& bias = tiny.made.parameters.at("output.bias");
  bias.value[static_cast<size_t>(tiny.vocabularies.target->encode("a").at(0))] = 50.0f;
  data::Batch batch = tiny.batch();
  const std::vector<int32_t> inputs = mixed(tiny, 0.3, 0);
  double own = 0, all = 0;
  for (size_t r = 0; r < inputs.size(); ++r) {
    if (batch.targets.in[r] == text::kStart) continue;
    all += 1;
    own += inputs[r] != batch.targets.in[r] ? 1 : 0;
  }
  EXPECT_EQ(all, 3000);
  EXPECT_NEAR(own / all, 0.3, 4 * std::sqrt(0.3 * 0.7 / all));  // four standard deviations
}

/// The loss is that of the right tokens, given the mixed inputs.
TEST(ScheduledSamplingLoss, IsThatOfTheRightTokens) {
  const Tiny tiny("rnn", kPairs);
  ObjectiveInputs setting = tiny.setting({.name = "scheduled_sampling", .sampling_most = 1.0, .sampling_steps = 1});
  data::Batch batch = tiny.batch();
  Tape tape;
  const PartReport report =
      scheduled_sampling_entry.make(setting)->run(tape, batch, {.share = 1.0, .updates_before = 5, .seed = 7});
  data::Batch by_hand = tiny.batch();
  by_hand.targets.in = batch.targets.in;
  EXPECT_NE(by_hand.targets.in, tiny.batch().targets.in);
  Tape quiet(kQuiet);
  EXPECT_NEAR(report.nll, tiny.made.model.loss(quiet, by_hand, {}).negative_log_likelihood, 1e-4);
}

}  // namespace
}  // namespace heed::objective::test
