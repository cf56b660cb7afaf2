// What a training chooses where the recipe leaves it open, and one that begins with trained weights.
#include "heed/train/training_setup.h"

#include <fmt/format.h>

#include "heed/base/disk.h"
#include "heed/checkpoint/start_from.h"
#include "heed/train/recipe/of_model.h"
#include "tests/train/small_run.h"

namespace heed::train::test {
namespace {

using heed::test::spill;

class PreparationTest : public testing::Test {
 protected:
  /// "12-34" and "3412", with `letter` in front of some.
  std::string file_of(int count, const std::string& letter = "") {
    std::string text;
    for (int i = 0; i < count; ++i) {
      const int a = 10 + i % 83, b = 11 + i * 7 % 89;
      const std::string front = i % 2 ? letter : "";
      text += fmt::format("{}{}-{}\t{}{}{}\n", front, a, b, b, a, front);
    }
    const fs::path path = folder_ / fmt::format("pairs{}.tsv", ++files_);
    spill(path, text);
    return path.string();
  }
  Recipe open_recipe(const std::string& tsv, const std::string& out, std::vector<std::string> settings = {}) {
    settings.insert(settings.end(), {"data.tsv=" + tsv, "output.folder=" + (folder_ / out).string()});
    return recipe::parse("", "open.toml", settings);
  }
  std::string text(const fs::path& path) const { return file::read_text(folder_.path() / path, 1 << 20); }

  const std::vector<std::string> kShort = {"model.width=16", "stop.steps=8", "validate.longest=20"};
  TemporaryFolder folder_;
  Recorder seen_;
  int files_ = 0;
};

TEST_F(PreparationTest, WhatIsOpenIsChosenToldAndWrittenDown) {
  const Recipe open = open_recipe(file_of(120), "run", kShort);
  run(open, seen_);
  std::map<std::string, std::string> chosen;
  for (const task::Suggestion& each : seen_.choices) chosen[each.key] = each.value;
  EXPECT_EQ(chosen["data.source_tokens"], "characters");
  EXPECT_EQ(chosen["attention.score"], "additive");
  EXPECT_EQ(chosen.count("model.width") + chosen.count("stop.epochs"), 0u);
  EXPECT_EQ(seen_.starts.at(0).valid_examples, 12);  // a tenth
  EXPECT_TRUE(seen_.warnings.empty()) << seen_.warnings.front();
  // The model knows all of it; recipe.toml has what was said and chosen, and makes the same model.
  const Recipe of_model = recipe::of_model(trained::load_model(folder_ / "run"));
  EXPECT_EQ(of_model.validate.metric, "exact");
  EXPECT_TRUE(of_model.open.empty());
  expect_in("\n[model]\nkind = \"rnn\"\nwidth = 16\n", text("run/recipe.toml"));
  Recipe again = recipe::read(folder_ / "run" / "recipe.toml");
  again.output.folder = (folder_ / "again").string();
  Recorder second;
  run(again, second);
  EXPECT_TRUE(second.choices.empty());
  EXPECT_EQ(second.losses(), seen_.losses());
}

TEST_F(PreparationTest, AResumedTrainingKeepsWhatWasChosen) {
  const std::string tsv = file_of(120);
  Recorder whole;
  run(open_recipe(tsv, "whole", kShort), whole);
  run_until(open_recipe(tsv, "run", kShort), seen_, 4);
  Recorder rest;
  run(open_recipe(tsv, "run", kShort), rest, true);
  EXPECT_EQ(rest.starts.at(0).resumed_from, 4);
  EXPECT_TRUE(rest.choices.empty());
  std::vector<double> losses = seen_.losses();
  for (const double loss : rest.losses()) losses.push_back(loss);
  EXPECT_EQ(losses, whole.losses());
}

TEST_F(PreparationTest, ATrainingThatIsTooShortIsWarnedOf) {
  run(small_recipe(folder_ / "run", {"train.warmup=24", "validate.every=30"}), seen_);
  ASSERT_EQ(seen_.warnings.size(), 2u);
  expect_in("before its warm-up of 24", seen_.warnings[0]);
  expect_in("before the first validation", seen_.warnings[1]);
}

TEST_F(PreparationTest, FromTrainedWeightsWithAVocabularyThatGrows) {
  run(open_recipe(file_of(120), "first", {"model.width=16", "stop.epochs=80", "validate.longest=20"}), seen_);
  const trained::TrainedModel first = trained::load_model(folder_ / "first");
  Recipe more = open_recipe(file_of(60, "q"), "second", {"stop.steps=3", "validate.every=1"});
  Recorder second;
  run_session(more, {.from = (folder_ / "first").string(), .observers = {&second}});
  const trained::TrainedModel then = trained::load_model(folder_ / "second");
  EXPECT_EQ(then.description.model.width, 16);
  EXPECT_EQ(then.vocabularies.source->size(), first.vocabularies.source->size() + 1);
  EXPECT_EQ(then.vocabularies.target->size(), first.vocabularies.target->size() + 1);
  EXPECT_EQ(then.vocabularies.source->token(first.vocabularies.source->size()), "q");
  // Gentler than the first, and from where it ended: better at once than the first was then.
  EXPECT_LT(recipe::of_model(then).train.schedule.peak, recipe::of_model(first).train.schedule.peak);
  EXPECT_LT(second.steps.front().nll, 0.9 * seen_.steps.front().nll);
  // A resumed one needs the weights no more.
  more.stop.steps = 5;
  fs::remove_all(folder_ / "first");
  Recorder rest;
  run_session(more, {.resume = true, .from = (folder_ / "first").string(), .observers = {&rest}});
  EXPECT_EQ(rest.starts.at(0).resumed_from, 3);
}

TEST_F(PreparationTest, WeightsAreCopiedAndNewRowsStayDrawn) {
  const std::string tsv = file_of(60);
  run(open_recipe(tsv, "first", kShort), seen_);
  const trained::TrainedModel from = trained::load_model(folder_ / "first");
  const TrainingSetup p = prepare(open_recipe(file_of(60, "q"), "x"), {.weights = &from, .weights_name = "first"});
  trained::TrainedModel made =
      trained::make_model(recipe::describe(p.recipe), p.model.vocabularies, p.recipe.train.seed);
  const trained::TrainedModel drawn =
      trained::make_model(recipe::describe(p.recipe), p.model.vocabularies, p.recipe.train.seed);
  trained::start_from(from, made);
  int grown = 0;
  for (const Parameter& after : *made.parameters) {
    const Parameter& before = *from.parameters->find(after.name);
    grown += before.shape != after.shape;
    for (int64_t row = 0; row < after.rows(); ++row)
      for (int64_t col = 0; col < after.cols(); ++col) {
        const bool old = row < before.rows() && col < before.cols();
        const auto at = static_cast<size_t>(row * after.cols() + col);
        EXPECT_EQ(after.value[at], old ? before.value[static_cast<size_t>(row * before.cols() + col)]
                                       : drawn.parameters->find(after.name)->value[at])
            << after.name;
      }
  }
  EXPECT_GE(grown, 3);  // two embeddings, and the output
}

// The model is made once: what was checked is what is trained, when its weights are drawn.
TEST_F(PreparationTest, TheModelIsThereWithoutItsWeights) {
  const TrainingSetup p = prepare(open_recipe(file_of(60), "x", kShort), {});
  for (const Parameter& each : *p.model.parameters) EXPECT_TRUE(each.value.empty()) << each.name;
  p.model.parameters->draw();
  const trained::TrainedModel drawn =
      trained::make_model(recipe::describe(p.recipe), p.model.vocabularies, p.recipe.train.seed);
  for (const Parameter& each : *drawn.parameters)
    EXPECT_EQ(p.model.parameters->at(each.name).value, each.value) << each.name;
}

TEST_F(PreparationTest, ARecipeThatDoesNotFitTheWeightsIsRefused) {
  run(open_recipe(file_of(60), "first", kShort), seen_);
  const auto refused = [&](const std::string& setting) {
    return error_of<RecipeError>([&] {
      run_session(open_recipe(file_of(60), "second", {setting, "stop.steps=1"}),
                  {.from = (folder_ / "first").string()});
    });
  };
  expect_in("model.width is 32, but '" + (folder_ / "first").string() + "' was trained with 16",
            refused("model.width=32"));
  expect_in("data.target_tokens is \"words\"", refused("data.target_tokens=words"));
  EXPECT_EQ(error_of([&] { run_session(open_recipe(file_of(9), "third"), {.from = (folder_ / "none").string()}); }),
            "there is no model '" + (folder_ / "none").string() + "'");
}

// What contradicts the defaults, or has no effect with them, may agree with the weights.
TEST_F(PreparationTest, KeysAreCheckedAfterTheyFollowFromTheWeights) {
  const std::string tsv = file_of(60), first = (folder_ / "first").string();
  std::vector<std::string> settings = kShort;
  settings.insert(settings.end(), {"model.kind=transformer", "model.decoder_layers=2", "attention.heads=2"});
  run(open_recipe(tsv, "first", settings), seen_);
  std::string links;
  for (int i = 0; i < 60; ++i) links += "0-0 1-1\n";
  spill(folder_ / "links", links);
  const std::vector<std::string> given = {"data.alignments=" + (folder_ / "links").string(), "stop.steps=1"};
  for (const char* place : {"train.align_layer=1", "train.align_head=1"}) {
    std::vector<std::string> placed = given;
    placed.emplace_back(place);
    Recorder second;
    run_session(open_recipe(tsv, place, placed), {.from = first, .observers = {&second}});
    EXPECT_EQ(second.steps.size(), 1u);
    EXPECT_EQ(trained::load_model(folder_ / place).description.model.decoder_layers, 2);
  }
}

TEST_F(PreparationTest, ATaskThatIsLeftOpenFollowsFromTheWeightsOrIsDoubted) {
  std::string texts;
  for (int i = 0; i < 60; ++i)
    texts += fmt::format("what a film it was, said number {}\t{}\n", i, i % 2 ? "good" : "bad");
  spill(folder_ / "labels.tsv", texts);
  const std::string tsv = (folder_ / "labels.tsv").string();
  run(open_recipe(tsv, "first", {"model.task=classification", "model.pool=mean", "model.width=8", "stop.steps=2"}),
      seen_);
  EXPECT_TRUE(seen_.warnings.empty());
  run_session(open_recipe(tsv, "second", {"stop.steps=1"}), {.from = (folder_ / "first").string()});
  const Recipe second = recipe::of_model(trained::load_model(folder_ / "second"));
  EXPECT_EQ(second.model.task, "classification");
  EXPECT_EQ(second.model.pool, "mean");
  Recorder doubted;
  run(open_recipe(tsv, "third", kShort), doubted);
  ASSERT_FALSE(doubted.warnings.empty());
  expect_in("as for model.task = \"classification\", but model.task is not set, and then it is \"seq2seq\"",
            doubted.warnings[0]);
}

TEST_F(PreparationTest, AHeaderIsLeftOutUnlessItIsMeant) {
  const fs::path path = folder_ / "header.tsv";
  spill(path, "Source\tTarget\n" + text(file_of(40)));
  const auto pairs = [](const Recorder& seen) { return seen.starts.at(0).examples + seen.starts.at(0).valid_examples; };
  run(open_recipe(path.string(), "run", kShort), seen_);
  ASSERT_EQ(seen_.warnings.size(), 1u);
  expect_in("line 1 ('Source', 'Target') names the columns, and is left out", seen_.warnings[0]);
  EXPECT_EQ(pairs(seen_), 40);
  for (const auto& [setting, count] : {std::pair("data.header=true", 40), std::pair("data.header=false", 41)}) {
    Recorder forced;
    std::vector<std::string> settings = kShort;
    settings.emplace_back(setting);
    run(open_recipe(path.string(), setting, settings), forced);
    EXPECT_TRUE(forced.warnings.empty()) << setting;
    EXPECT_EQ(pairs(forced), count) << setting;
  }
}

}  // namespace
}  // namespace heed::train::test
