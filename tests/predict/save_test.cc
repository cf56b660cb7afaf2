// A whole model is written by one call and read by one, whether it was trained here or comes from elsewhere.
#include "heed/checkpoint/save.h"

#include "heed/checkpoint/average.h"
#include "heed/checkpoint/start_from.h"
#include "heed/train/recipe/of_model.h"
#include "tests/base/temporary.h"
#include "tests/predict/decided_model.h"

namespace heed::predict::test {
namespace {

namespace fs = std::filesystem;
using trained::TrainedModel;

class SaveTest : public testing::Test {
 protected:
  heed::test::TemporaryFolder folder_;
};

void expect_the_same_answers(TrainedModel before, TrainedModel after) {
  const Predictor first(std::move(before)), second(std::move(after));
  const auto mine = first.predict_all(kLines, {.beam = 3, .nbest = 2}),
             other = second.predict_all(kLines, {.beam = 3, .nbest = 2});
  for (size_t i = 0; i < kLines.size(); ++i) expect_same(mine[i], other[i]);
}

// No recipe, no updates, no state: a model is its description, its vocabularies and its weights.
TEST_F(SaveTest, AModelThatWasNeverTrainedHere) {
  for (const bool one_file : {false, true}) {
    const fs::path place = folder_ / (one_file ? "model.heed" : "model");
    trained::save_model(decided(), place, {.one_file = one_file});
    if (!one_file)
      EXPECT_EQ(heed::test::names_in(place), (std::vector<std::string>{"MANIFEST.json", "model.toml", "source.vocab",
                                                                       "target.vocab", "weights.safetensors"}));
    TrainedModel back = trained::load_model(place);
    EXPECT_TRUE(back.training.recipe.empty());
    EXPECT_TRUE(back.training.facts.values().empty());
    // Its recipe says what the description does, and leaves all else open.
    const recipe::Recipe recipe = recipe::of_model(back);
    EXPECT_EQ(recipe.model.width, back.description.model.width);
    EXPECT_FALSE(recipe::is_open(recipe, "model.width"));
    EXPECT_FALSE(recipe::is_open(recipe, "data.source_tokens"));
    EXPECT_FALSE(recipe::is_open(recipe, "validate.longest"));
    for (const char* key : {"train.learning_rate", "data.source_size", "data.tsv", "stop.epochs"})
      EXPECT_TRUE(recipe::is_open(recipe, key)) << key;
    expect_in("was not trained here: it has no recipe (config.toml), so its training cannot be resumed",
              error_of([&] { recipe::of_checkpoint(file::Checkpoint::open(place, file::Purpose::run)); }));
    expect_the_same_answers(decided(), std::move(back));
  }
}

TEST_F(SaveTest, TheMeanOfModelsThatWereNeverTrainedHere) {
  std::vector<file::Checkpoint> both;
  for (const uint64_t seed : {1u, 2u}) {
    const fs::path place = folder_ / std::to_string(seed);
    trained::save_model(decided({}, seed), place);
    both.push_back(file::Checkpoint::open(place, file::Purpose::run));
  }
  const TrainedModel mean = trained::average(both);
  const TrainedModel a = decided({}, 1), b = decided({}, 2);
  for (const Parameter& p : *mean.parameters)
    for (size_t i = 0; i < p.value.size(); ++i)
      ASSERT_EQ(p.value[i], static_cast<float>((static_cast<double>(a.parameters->find(p.name)->value[i]) +
                                                static_cast<double>(b.parameters->find(p.name)->value[i])) /
                                               2));
  EXPECT_FALSE(mean.training.facts.has("step"));
  EXPECT_EQ(mean.training.facts.integer("averaged"), 2);
  trained::save_model(decided({"model.width=12"}), folder_ / "other");
  both.push_back(file::Checkpoint::open(folder_ / "other", file::Purpose::run));
  expect_in("are not the same model: model.width is 12, was 8", error_of([&] { trained::average(both); }));
}

TEST_F(SaveTest, ATrainingMayStartFromIt) {
  trained::save_model(decided(), folder_ / "from");
  train::test::Recorder seen;
  const auto recipe = train::test::small_recipe(folder_ / "run", {"stop.steps=2"});
  train::run_session(recipe, {.from = (folder_ / "from").string(), .observers = {&seen}});
  EXPECT_EQ(seen.steps.size(), 2u);
  const TrainedModel after = trained::load_model(folder_ / "run");
  EXPECT_FALSE(after.training.recipe.empty());
  EXPECT_EQ(after.training.facts.integer("step"), 2);
}

// The recipe that is there is one of that model.
TEST_F(SaveTest, ARecipeOfAnotherModelIsRefused) {
  TrainedModel model = decided();
  model.training.recipe = recipe::text_of(train::test::small_recipe("nowhere", {"model.width=12"}));
  trained::save_model(model, folder_ / "model");
  const TrainedModel back = trained::load_model(folder_ / "model");
  EXPECT_EQ(back.description.model.width, 8);
  expect_in("is the recipe of another model: model.width is 12, was 8", error_of([&] { recipe::of_model(back); }));
}

}  // namespace
}  // namespace heed::predict::test
