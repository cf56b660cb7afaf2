// Training runs with other objectives than the likelihood, and with given alignments.
#include <fstream>

#include "heed/train/objective/all.h"
#include "heed/train/training_setup.h"
#include "tests/threads.h"
#include "tests/train/small_run.h"

namespace heed::train::test {
namespace {

std::vector<std::string> with_objective(const std::string& name, std::vector<std::string> more = {}) {
  more.push_back("train.objective=" + name);
  return more;
}

TEST(ObjectiveRun, RewardsAreReported) {
  TemporaryFolder folder;
  Recorder plain;
  run(small_recipe(folder / "plain"), plain);
  EXPECT_FALSE(plain.steps.at(0).reward.has_value());
  EXPECT_TRUE(plain.warnings.empty());
  for (const char* name : {"reinforce", "minimum_risk"}) {
    Recorder recorder;
    run(small_recipe(folder / name, with_objective(name, {"train.reward=cer"})), recorder);
    ASSERT_EQ(recorder.steps.size(), 24u);
    for (const StepReport& r : recorder.steps) EXPECT_LE(r.reward.value(), 1.0);
    ASSERT_EQ(recorder.warnings.size(), 1u);
    expect_in("--from", recorder.warnings[0]);  // it started from random weights
  }
  Recorder tuned;
  run_session(small_recipe(folder / "tuned", with_objective("reinforce")),
              {.from = (folder / "plain").string(), .observers = {&tuned}});
  EXPECT_TRUE(tuned.warnings.empty());
}

TEST(ObjectiveRun, OwnFunctionIsCalledWithTexts) {
  TemporaryFolder folder;
  int64_t calls = 0;
  const objective::RewardFunction reward = [&](std::span<const objective::RewardCase> cases) {
    std::vector<double> rewards;
    for (const objective::RewardCase& each : cases) {
      const std::string reversed(each.source.rbegin(), each.source.rend());
      EXPECT_EQ(each.references, std::vector<std::string>{reversed});
      rewards.push_back(each.output.size() == reversed.size() ? 1.0 : 0.0);
      ++calls;
    }
    return rewards;
  };
  Recorder recorder;
  run_session(small_recipe(folder / "run", with_objective("reinforce", {"train.reward=own"})),
              {.observers = {&recorder}, .reward = reward});
  EXPECT_GT(calls, 100);
  const Recipe without = small_recipe(folder / "other", with_objective("reinforce", {"train.reward=own"}));
  expect_in("a function is needed", error_of([&] { run(without, recorder); }));
}

TEST(ObjectiveRun, ThreadsDoNotChangeABit) {
  TemporaryFolder folder;
  for (const objective::Entry* entry : objective::all()) {
    std::vector<std::vector<double>> losses;
    for (const int threads : {1, 2}) {
      const heed::test::Threads some(threads);
      Recorder recorder;
      run(small_recipe(folder / (std::string(entry->name) + std::to_string(threads)),
                       with_objective(entry->name, {"stop.steps=6"})),
          recorder);
      losses.push_back(recorder.losses());
    }
    EXPECT_EQ(losses[0], losses[1]) << entry->name;
  }
}

TEST(ObjectiveRun, AnOptionOfAnotherObjectiveIsRefused) {
  const auto refused = [](std::vector<std::string> overrides) {
    return error_of<RecipeError>([&] { small_recipe("unused", std::move(overrides)); });
  };
  expect_in("train.sampling_most has no effect with train.objective = \"likelihood\"",
            refused({"train.sampling_most=0.5"}));
  const std::vector<std::string> running = {"model.task=language_model", "data.text=x", "train.objective=reinforce"};
  expect_in("needs a model that writes texts for texts or for pictures, not one of model.task = \"language_model\"",
            error_of<RecipeError>([&] { recipe::parse("", "running", running); }));
  expect_in("without data.alignments", refused({"train.align_weight=2"}));
  expect_in("guide_steps above 0", error_of<RecipeError>([] {
              check_model(small_recipe("unused", {"attention.time=guided", "attention.guide_schedule=linear"}));
            }));
}

// ---------------------------------------------------------------------------------------------------- given alignments

class Alignments : public testing::Test {
 protected:
  /// Words of letters and their reverse: target token t belongs to source token n - 1 - t.
  void write(int64_t count) {
    std::ofstream pairs(folder_ / "pairs.tsv"), links(folder_ / "links.txt");
    uint64_t state = 1;
    for (int64_t i = 0; i < count; ++i) {
      std::string word;
      const size_t length = 3 + static_cast<size_t>(i) % 5;
      for (size_t c = 0; c < length; ++c) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        word += static_cast<char>('a' + (state >> 33) % 8);
      }
      pairs << word << '\t' << std::string(word.rbegin(), word.rend()) << '\n';
      for (size_t t = 0; t < length; ++t) links << (t > 0 ? " " : "") << length - 1 - t << '-' << t;
      links << '\n';
    }
  }
  Recipe recipe(const std::string& name, std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"data.task=none", "data.tsv=" + (folder_ / "pairs.tsv").string()});
    return small_recipe(folder_ / name, more);
  }
  std::string links() const { return "data.alignments=" + (folder_ / "links.txt").string(); }
  std::string refused(const std::string& content) {
    std::ofstream(folder_ / "links.txt") << content;
    Recorder recorder;
    return error_of([&] { run(recipe("refused", {links()}), recorder); });
  }

  TemporaryFolder folder_;
};

TEST_F(Alignments, AddALossThatFalls) {
  write(300);
  for (const bool transformers : {false, true}) {
    std::vector<std::string> more = transformers ? transformer() : std::vector<std::string>{};
    more.insert(more.end(), {links(), "stop.steps=200", "model.width=16", "model.dropout=0", "train.batch_tokens=256",
                             "train.label_smoothing=0", "validate.every=200"});
    Recorder recorder;
    run(recipe(transformers ? "transformer" : "rnn", more), recorder);
    const auto cost = [&](size_t step) { return recorder.steps[step].loss - recorder.steps[step].nll; };
    EXPECT_GT(cost(0), 0.8);  // - log of a uniform weight on 3 to 7 keys
    EXPECT_LT(cost(199), 0.75 * cost(0));
  }
}

TEST_F(Alignments, ResumeBitForBit) {
  write(60);
  Recorder whole, first, second;
  run(recipe("whole", {links()}), whole);
  run_until(recipe("parts", {links()}), first, 7);
  run(recipe("parts", {links()}), second, true);
  for (const StepReport& r : second.steps) EXPECT_EQ(r.loss, whole.steps.at(static_cast<size_t>(r.step) - 1).loss);
  Recorder changed;
  run_until(recipe("changed", {links()}), changed, 7);
  std::ofstream others(folder_ / "links.txt");
  for (int i = 0; i < 60; ++i) others << "0-0\n";
  others.close();
  expect_in("the data differs", error_of([&] { run(recipe("changed", {links()}), changed, true); }));
}

TEST_F(Alignments, BadFilesAreRefusedWithTheLine) {
  write(3);
  expect_in("links.txt has 2 lines, but the training data has 3", refused("0-0\n\n"));
  expect_in("links.txt, line 2: '1:1' is not a link", refused("0-0\n1:1\n\n"));
  expect_in("links.txt, line 1: '-1-0' is not a link", refused("-1-0\n\n\n"));
  expect_in("the link 9-0 is outside its pair", refused("9-0\n9-0\n9-0\n"));
  Recorder recorder;
  expect_in("cannot be combined", error_of([&] {
              run(recipe("guided", {links(), "attention.time=guided"}), recorder);
            }));
  expect_in("train.align_head is 3", error_of([&] { run(recipe("head", {links(), "train.align_head=3"}), recorder); }));
}

}  // namespace
}  // namespace heed::train::test
