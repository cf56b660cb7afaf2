#include "heed/train/recipe/recipe.h"

#include <set>
#include <sstream>
#include <utility>

#include "tests/train/small_run.h"

namespace heed::recipe::test {
namespace {

using train::test::error_of;
using train::test::expect_in;

std::string refused(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  return error_of<RecipeError>([&] { recipe::parse(toml, "r.toml", overrides); });
}

const std::string kTask = "[data]\ntask = \"reverse\"\n[stop]\nsteps = 5\n";

TEST(Recipe, TheExampleRuns) {
  const Recipe r = recipe::parse(recipe::example(), "example");
  EXPECT_EQ(r.data.task, "dates");
  EXPECT_EQ(r.model.attention.score, "additive");
  EXPECT_EQ(r.stop.epochs, 4);
  EXPECT_EQ(r.output.folder, "dates");
}

TEST(Recipe, TheWholeTextMeansTheSame) {
  const std::vector<std::string> overrides = {
      "data.task=none",      "data.folder=some/where", "data.source=a.gz",       "data.target=b",
      "data.valid_tsv=v",    "data.target_column=3",   "data.joint=true",        "data.source_tokens=sentencepiece",
      "data.source_size=77", "data.sentencepiece=bpe", "model.kind=transformer", "model.tied=all",
      "attention.heads=8",   "attention.score=cosine", "train.beta2=0.95",       "train.average=0.999",
      "stop.minutes=2.5",    "validate.metric=cer",    "output.folder=out"};
  const Recipe r = recipe::parse(kTask, "r.toml", overrides);
  EXPECT_EQ(r.data.train.source, "some/where/a.gz");
  EXPECT_EQ(r.data.valid.tsv, "some/where/v");
  EXPECT_EQ(r.data.valid.target_column, 3);
  EXPECT_EQ(r.data.target.kind, "sentencepiece");  // joint
  EXPECT_EQ(r.data.target.model, "bpe");
  const std::string text = recipe::text_of(r);
  const Recipe back = recipe::parse(text, "again");
  EXPECT_EQ(recipe::text_of(back), text);
  EXPECT_EQ(back.data.train.source, "some/where/a.gz");
  EXPECT_EQ(recipe::difference(r, back), "");
}

TEST(Recipe, EveryMistakeHasItsLineAndTheNearestName) {
  const std::string said = refused(
      "[data]\ntask = \"date\"\n[modle]\nwidth = 3\n[train]\nlearning_rat = 0.1\nclip = -1\n"
      "[stop]\nsteps = \"many\"\n[attention]\nscore = \"aditive\"\n");
  for (const char* part :
       {"r.toml:2: data.task must be one of none, dates, reverse",
        "r.toml:3: unknown section [modle]; did you mean [model]?",
        "r.toml:6: unknown key 'train.learning_rat'; did you mean 'train.learning_rate'?",
        "r.toml:7: train.clip must be from 0 to 1000000000, not -1", "r.toml:9: stop.steps must be a whole number",
        "r.toml:11: attention.score must be one of dot"})
    expect_in(part, said);
}

// A number without a limit ends in std::bad_alloc, or never.
TEST(Recipe, EveryNumberHasALimit) {
  std::istringstream lines(recipe::text_of(recipe::parse(kTask, "r.toml")));
  std::string said;  // about the key below it
  int64_t numbers = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) {
      said += line.substr(1);
      continue;
    }
    const std::string about = std::exchange(said, "");
    const size_t equals = line.find(" = ");
    const std::string name = line.substr(0, std::min(equals, line.size()));
    // Every seed is one; these weigh and scale, and cost neither memory nor time.
    const std::set<std::string> any = {"seed",        "softcap",      "scale",         "temperature",   "sigma",
                                       "guide_sigma", "guide_weight", "learning_rate", "entropy_weight"};
    if (equals == std::string::npos || any.contains(name)) continue;
    if (line.find_first_of("0123456789-", equals) != equals + 3) continue;
    ++numbers;
    const bool limited = about.find(" to ") != std::string::npos || about.find("at most ") != std::string::npos;
    EXPECT_TRUE(limited) << about << "\n" << line;
  }
  EXPECT_GT(numbers, 50);
  for (const char* key : {"data.examples", "train.accumulate", "attention.reach", "attention.samples",
                          "attention.max_length", "model.max_length", "model.width", "validate.longest"})
    expect_in(std::string(key) + " must be from 1 to ", refused(kTask, {std::string(key) + "=1000000000000000"}));
  for (const char* side : {"source", "target"})
    expect_in(fmt::format("r.toml: data.{}_size must be 0 (no limit) or above 3, not 2", side),
              refused(kTask, {fmt::format("data.{}_size=2", side)}));
}

// `heed train RECIPE --show` is where users look a key up. A range alone, or a word, tells them nothing.
TEST(Recipe, EveryKeyHasAMeaning) {
  std::istringstream lines(recipe::text_of(recipe::parse(kTask, "r.toml")));
  std::string said;  // about the key below it
  int64_t keys = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) {
      said += line.substr(1);
      continue;
    }
    std::istringstream about(std::exchange(said, ""));
    if (line.find(" = ") == std::string::npos) continue;
    ++keys;
    int64_t words = 0;
    for (std::string word; about >> word && !word.starts_with("(");) ++words;
    EXPECT_GE(words, 3) << line;
    for (const char* range : {" one of ", " from ", " above ", " at least ", " at most "})
      EXPECT_FALSE(about.str().starts_with(range)) << about.str() << "\n" << line;
  }
  EXPECT_GT(keys, 80);
}

// Without a section it is the name that counts.
TEST(Recipe, TheNearestOfAKeyWithoutASection) {
  expect_in("unknown key 'widht'; did you mean 'model.width'?", refused("widht = 3\n" + kTask));
  expect_in("unknown key 'x.learning_rat'; did you mean 'train.learning_rate'?", refused(kTask, {"x.learning_rat=3"}));
}

TEST(Recipe, OverridesAreChecked) {
  expect_in("--set train.lr=1: unknown key 'train.lr'", refused(kTask, {"train.lr=1"}));
  expect_in("--set model.width=0: model.width must be from 1", refused(kTask, {"model.width=0"}));
  EXPECT_EQ(recipe::parse(kTask, "r.toml", std::vector<std::string>{"model.width=64"}).model.width, 64);
}

TEST(Recipe, WhatDoesNotGoTogether) {
  expect_in("there is no data", refused("[stop]\nsteps = 1\n"));
  expect_in("data.task and files", refused(kTask, {"data.tsv=x"}));
  expect_in("either two files", refused("[stop]\nsteps = 1\n", {"data.source=x"}));
  expect_in("either two files", refused("[stop]\nsteps = 1\n", {"data.source=x", "data.target=x", "data.tsv=y"}));
  expect_in("data.valid_source and data.valid_target",
            refused("[stop]\nsteps = 1\n", {"data.tsv=y", "data.valid_target=x"}));
  expect_in("data.joint", refused(kTask, {"model.tied=all"}));
  expect_in("never end", refused(kTask, {"stop.steps=0", "stop.epochs=0"}));
  expect_in("cosine", refused(kTask, {"stop.steps=0", "stop.epochs=0", "stop.minutes=1", "train.schedule=cosine"}));
  expect_in("validate.decode", refused(kTask, {"validate.metric=exact", "validate.decode=0"}));
}

TEST(Recipe, DifferencesThatMatter) {
  const Recipe a = recipe::parse(kTask, "r.toml");
  EXPECT_EQ(recipe::difference(
                a, recipe::parse(kTask, "r.toml",
                                 std::vector<std::string>{"stop.steps=9", "output.folder=x", "validate.every=3"})),
            "");
  EXPECT_EQ(recipe::difference(recipe::parse(kTask, "r.toml", std::vector<std::string>{"train.clip=2"}), a),
            "train.clip is 2.0, was 1.0");
}

}  // namespace
}  // namespace heed::recipe::test
