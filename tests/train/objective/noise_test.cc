#include "heed/train/objective/noise.h"

#include <algorithm>
#include <map>

#include "tests/train/objective/tiny.h"

namespace heed::objective::test {
namespace {

/// Sequences <s> 3 4 5 ... , every token another.
data::Targets rising(int64_t sequences, int64_t length) {
  data::Targets targets;
  for (int64_t s = 0; s < sequences; ++s) {
    std::vector<int32_t> tokens;
    for (int64_t i = 0; i < length; ++i) tokens.push_back(static_cast<int32_t>(100 + i));
    targets.add_tokens(tokens);
  }
  return targets;
}

const std::vector<int32_t> kReadable = {7, 8, 9};

std::vector<int32_t> noisy(const data::Targets& targets, const Options& o, uint64_t seed = 3) {
  data::Targets changed = targets;
  add_noise(changed, o, kReadable, seed);
  EXPECT_EQ(changed.out, targets.out);
  EXPECT_EQ(changed.offsets, targets.offsets);
  return changed.in;
}

TEST(Noise, ChangesTheSharesThatAreAskedFor) {
  const data::Targets right = rising(200, 40);
  const double rows = 200.0 * 40.0;
  const std::vector<int32_t> dropped = noisy(right, {.noise_dropped = 0.25});
  const std::vector<int32_t> wrong = noisy(right, {.noise_wrong = 0.5});
  EXPECT_NEAR(static_cast<double>(std::count(dropped.begin(), dropped.end(), text::kUnknown)) / rows, 0.25, 0.02);
  std::map<int32_t, int64_t> drawn;
  for (const int32_t token : wrong)
    if (token < 100 && token != text::kStart) ++drawn[token];
  for (const int32_t token : kReadable) EXPECT_NEAR(static_cast<double>(drawn[token]) / rows, 0.5 / 3, 0.02);
  EXPECT_EQ(drawn.size(), kReadable.size());
}

TEST(Noise, SwapsNeighboursAndLosesNoToken) {
  const data::Targets right = rising(100, 20);
  const std::vector<int32_t> swapped = noisy(right, {.noise_swapped = 0.3});
  int64_t moved = 0;
  for (int64_t s = 0; s < right.size(); ++s) {
    std::vector<int32_t> tokens(swapped.begin() + right.offsets[s], swapped.begin() + right.offsets[s + 1]);
    EXPECT_EQ(tokens.front(), text::kStart);
    for (size_t i = 1; i < tokens.size(); ++i) {
      const int32_t by = tokens[i] - static_cast<int32_t>(99 + i);
      EXPECT_LE(std::abs(by), 1);
      moved += by > 0;
    }
    std::sort(tokens.begin() + 1, tokens.end());
    EXPECT_TRUE(std::equal(tokens.begin(), tokens.end(), right.in.begin() + right.offsets[s]));
  }
  EXPECT_GT(moved, 300);
}

TEST(Noise, DependsOnTheSeedAlone) {
  const data::Targets right = rising(5, 20);
  const Options o{.noise_wrong = 0.2, .noise_dropped = 0.2, .noise_swapped = 0.2};
  EXPECT_EQ(noisy(right, o, 3), noisy(right, o, 3));
  EXPECT_NE(noisy(right, o, 3), noisy(right, o, 4));
  EXPECT_EQ(noisy(right, {}), right.in);
}

/// The objective is the likelihood of the right outputs, given these inputs.
TEST(Noise, IsWhatTheDecoderReads) {
  const Tiny tiny("rnn", {{"a b a", "b a a b a"}, {"b", "a"}, {"a a b b a", "b b a b"}});
  const Options o{.noise_wrong = 0.5, .noise_dropped = 0.3};
  const UpdatePart part{.share = 0.1, .seed = 7};
  Tape tape;
  data::Batch batch = tiny.batch();
  const PartReport report = likelihood_entry.make(tiny.setting(o))->run(tape, batch, part);
  data::Batch changed = tiny.batch();
  add_noise(changed.targets, o, readable_tokens(*tiny.vocabularies.target), part.seed);
  ASSERT_NE(changed.targets.in, tiny.batch().targets.in);
  EXPECT_EQ(learn_likelihood(tiny.made.model, tape, changed, part, {}).loss, report.loss);
  data::Batch right = tiny.batch();
  EXPECT_NE(likelihood_entry.make(tiny.setting({}))->run(tape, right, part).loss, report.loss);
}

TEST(Noise, BelongsToTeacherForcing) {
  const auto told = [](Options o, const char* task) {
    model::Options m;
    m.task = task;
    const std::vector<std::string> reasons = problems(o, m);
    return reasons.empty() ? std::string() : reasons.front();
  };
  EXPECT_EQ(told({.noise_wrong = 0.1}, "seq2seq"), "");
  EXPECT_EQ(told({.name = "scheduled_sampling", .noise_wrong = 0.1}, "language_model"), "");
  EXPECT_NE(told({.name = "reinforce", .noise_wrong = 0.1}, "seq2seq").find("train.noise_wrong has no effect"),
            std::string::npos);
  EXPECT_NE(told({.noise_wrong = 0.1}, "classification").find("has none"), std::string::npos);
}

/// Whoever writes for pictures may learn from rewards, and whoever writes anything from its own tokens.
TEST(Objectives, SayWhichModelsTheyAreFor) {
  const auto fits = [](const char* objective, const char* task) {
    model::Options m;
    m.task = task;
    return problems({.name = objective}, m).empty();
  };
  for (const char* task : {"seq2seq", "image"})
    for (const char* objective : {"scheduled_sampling", "reinforce", "minimum_risk"})
      EXPECT_TRUE(fits(objective, task)) << objective << " " << task;
  EXPECT_TRUE(fits("scheduled_sampling", "language_model"));
  EXPECT_FALSE(fits("reinforce", "language_model"));
  for (const char* objective : {"scheduled_sampling", "minimum_risk"})
    EXPECT_FALSE(fits(objective, "classification")) << objective;
}

}  // namespace
}  // namespace heed::objective::test
