// What files are taken for, whoever hands them over.
#include "heed/train/recipe/data_files.h"

#include <fmt/format.h>

#include "tests/train/small_run.h"

namespace heed::recipe::test {
namespace {

using heed::test::spill;
using heed::test::TemporaryFolder;
using train::test::error_of;
using train::test::expect_in;

class DataFilesTest : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    spill(folder_ / name, text);
    return (folder_ / name).string();
  }
  std::string pairs() { return file("pairs.tsv", "ab\tba\ncd\tdc\n"); }
  std::string labels(int count = 40) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += fmt::format("what a film it was, said number {}\t{}\n", i, i % 2 ? "good" : "bad");
    return file(fmt::format("labels{}.tsv", count), text);
  }
  std::string pictures() {
    std::string text;
    for (int i = 0; i < 40; ++i)
      text += fmt::format("img/{}.PNG\tHow many blue squares are in picture {}?\t{}\n", i, i, i % 3);
    return file("pictures.tsv", text);
  }
  std::string story() { return file("story.txt", "Once upon a time\nthere was a king.\n"); }

  TemporaryFolder folder_;
};

TEST_F(DataFilesTest, TheTaskIsSeenAndSaid) {
  Understood u = recipe_of_files({.train = {pairs()}}, {});
  EXPECT_EQ(u.recipe.model.task, "seq2seq");
  EXPECT_EQ(u.recipe.output.folder, "pairs-model");
  EXPECT_TRUE(is_open(u.recipe, "model.width"));
  EXPECT_EQ(u.seen, "");
  u = recipe_of_files({.train = {labels()}}, {});
  EXPECT_EQ(u.recipe.model.task, "classification");
  EXPECT_EQ(u.recipe.data.train.tsv, labels());
  expect_in("column 2 has 2 different values on the first 40 lines, and column 1 is text: learning labels", u.seen);
  u = recipe_of_files({.train = {pictures()}}, {});
  EXPECT_EQ(u.recipe.model.task, "image");
  expect_in("column 1 names pictures: learning words about pictures", u.seen);
  u = recipe_of_files({.train = {story()}, .valid = {story()}}, {});
  EXPECT_EQ(u.recipe.model.task, "language_model");
  EXPECT_EQ(u.recipe.data.train.source, story());
  EXPECT_EQ(u.recipe.data.valid.source, story());
  expect_in("has no tabs", u.seen);
}

TEST_F(DataFilesTest, TwoTextsAndALabelAreSeen) {
  // Named, and too short to be seen without a name; in any order of columns.
  std::string named = "id\tgold_label\tsentence_A\tsentence_B\n", plain, titles;
  for (int i = 0; i < 60; ++i) {
    const char* label = i % 3 == 0 ? "ENTAILMENT" : "NEUTRAL";
    named += fmt::format("{}\t{}\ta dog {}\tdog {}\n", i, label, i % 7, i);
    plain += fmt::format("the man {} sees a dog\ta dog is seen by man {}\t{}\n", i % 20, i, label);
    titles += fmt::format(
        "news of {}\t{}\tlong ago there was, as number {} says, a king who had three sons and a "
        "daughter, and more besides that nobody knows any more\n",
        i, label, i);
  }
  const Recipe by_names = recipe_of_files({.train = {file("named.tsv", named)}}, {}).recipe;
  EXPECT_EQ(by_names.model.task, "classification");
  EXPECT_EQ(by_names.data.train.source_column, 3);
  EXPECT_EQ(by_names.data.train.second_column, 4);
  EXPECT_EQ(by_names.data.train.target_column, 2);
  const Understood by_lines = recipe_of_files({.train = {file("plain.tsv", plain)}}, {});
  expect_in("columns 1 and 2 are two texts, and column 3 has 2 different values on the first 60 lines", by_lines.seen);
  EXPECT_EQ(by_lines.recipe.data.train.second_column, 2);
  EXPECT_TRUE(describe(by_lines.recipe).model.two_texts);
  // Not a title and its text, and not where the user says otherwise.
  EXPECT_EQ(recipe_of_files({.train = {file("titles.tsv", titles)}}, {}).recipe.data.train.second_column, 0);
  const std::vector<std::string> one = {"data.second_text_column=0"};
  EXPECT_EQ(recipe_of_files({.train = {file("plain.tsv", plain)}}, one).recipe.data.train.second_column, 0);
  const std::vector<std::string> task = {"model.task=classification"};
  EXPECT_EQ(recipe_of_files({.train = {file("plain.tsv", plain)}}, task).recipe.data.train.second_column, 2);
}

TEST_F(DataFilesTest, ABuiltInTaskIsNamedInPlaceOfAFile) {
  const Understood dates = recipe_of_files({.train = {"dates"}}, {});
  EXPECT_EQ(dates.recipe.data.task, "dates");
  EXPECT_EQ(dates.recipe.stop.steps, 800);
  EXPECT_EQ(dates.recipe.output.folder, "dates-model");
  const std::vector<std::string> longer = {"stop.epochs=2", "output.folder=mine"};
  EXPECT_EQ(recipe_of_files({.train = {"dates"}}, longer).recipe.stop.steps, 0);
  EXPECT_EQ(recipe_of_files({.train = {"dates"}}, longer).recipe.output.folder, "mine");
  EXPECT_EQ(recipe_of_files({.train = {"scenes"}}, {}).recipe.model.task, "image");
  expect_in("no built-in task of that name: dates, reverse",
            error_of([] { recipe_of_files({.train = {"datse"}}, {}); }));
  EXPECT_EQ(error_of([] { recipe_of_files({.train = {"datse.tsv"}}, {}); }), "there is no recipe or data 'datse.tsv'");
}

TEST_F(DataFilesTest, WhatIsGivenDecides) {
  const std::vector<std::string> as_pairs = {"model.task=seq2seq"}, as_labels = {"model.task=classification"};
  EXPECT_EQ(recipe_of_files({.train = {labels()}}, as_pairs).recipe.model.task, "seq2seq");
  EXPECT_EQ(recipe_of_files({.train = {labels()}}, as_pairs).seen, "");
  EXPECT_EQ(recipe_of_files({.train = {pairs()}}, as_labels).recipe.model.task, "classification");
  const Understood two = recipe_of_files({.train = {story(), story()}, .valid = {pairs()}}, {});
  EXPECT_EQ(two.recipe.data.train.target, story());
  EXPECT_EQ(two.recipe.data.valid.tsv, pairs());
  expect_in("takes its data from one file, not from 2", error_of([&] {
              recipe_of_files({.train = {story(), story()}}, as_labels);
            }));
}

TEST_F(DataFilesTest, ARecipeAloneOrWithData) {
  const std::string alone = file("a.toml", "[data]\ntask = \"reverse\"\n");
  EXPECT_EQ(recipe_of_files({.train = {alone}}, {}).recipe.data.task, "reverse");
  const std::string with = file("b.toml", "[model]\nwidth = 9\n");
  const Understood u = recipe_of_files({.train = {labels()}, .recipe = with}, {});
  EXPECT_EQ(u.recipe.model.task, "seq2seq");  // a recipe is of pairs if it does not say
  EXPECT_EQ(u.recipe.model.width, 9);
  EXPECT_EQ(u.recipe.data.train.tsv, labels());
}

TEST_F(DataFilesTest, APrecedentDecidesBeforeAnythingIsChecked) {
  const std::vector<std::string> was = {"model.pool=mean", "model.kind=convolution", "model.width=24"};
  const Precedent labelled{.recipe = recipe_of_files({.train = {labels()}}, was).recipe};
  const std::vector<std::string> pool = {"model.pool=mean"};
  const Understood few = recipe_of_files({.train = {labels(12)}}, pool, &labelled);
  EXPECT_EQ(few.recipe.model.task, "classification");
  EXPECT_EQ(few.recipe.model.kind, "convolution");
  EXPECT_EQ(few.recipe.model.width, 24);
  EXPECT_TRUE(is_open(few.recipe, "train.warmup"));
  // Alone this contradicts the defaults.
  const std::vector<std::string> structured = {"attention.structure=structured"}, penalty = {"model.penalty=0.5"};
  const Precedent rows{.recipe = recipe_of_files({.train = {labels()}}, structured).recipe};
  EXPECT_EQ(recipe_of_files({.train = {labels()}}, penalty, &rows).recipe.model.penalty, 0.5f);
  expect_in("model.penalty is for", error_of([&] { recipe_of_files({.train = {labels()}}, penalty); }));
  // One that was parsed without it follows too.
  const Recipe parsed = following(recipe_of_files({.train = {labels(12)}}, {}).recipe, labelled);
  EXPECT_EQ(parsed.model.task, "classification");
  EXPECT_EQ(parsed.model.pool, "mean");
  EXPECT_EQ(parsed.data.train.tsv, labels(12));
}

TEST_F(DataFilesTest, AResumedTrainingFollowsInHowItIsTrained) {
  const std::vector<std::string> was = {"train.warmup=7", "model.width=24", "stop.steps=5"};
  const Recipe before = recipe_of_files({.train = {pairs()}}, was).recipe;
  const Precedent resumed{.recipe = before, .resumed = true}, weights{.recipe = before};
  EXPECT_EQ(recipe_of_files({.train = {pairs()}}, {}, &resumed).recipe.train.schedule.warmup, 7);
  EXPECT_TRUE(is_open(recipe_of_files({.train = {pairs()}}, {}, &weights).recipe, "train.warmup"));
}

}  // namespace
}  // namespace heed::recipe::test
