// slow: 15 s
// A model of pictures learns where to look: nobody tells it which cell the answer is in.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/checkpoint/trained_model.h"
#include "heed/data/picture_source.h"
#include "heed/data/scenes.h"
#include "heed/model/search/tape_pool.h"
#include "heed/train/trainer.h"
#include "heed/train/training_setup.h"

namespace heed::train {
namespace {

struct PictureLearner {
  TrainingSetup prepared;
  trained::TrainedModel made;

  explicit PictureLearner(const std::string& task, const std::vector<std::string>& more) {
    std::vector<std::string> settings = more;
    settings.insert(settings.end(), {"model.task=image", "data.task=" + task, "data.valid_examples=10"});
    prepared = prepare(recipe::parse("", "scenes", settings), {}, {});
    recipe::Recipe& recipe = prepared.recipe;
    recipe.train.schedule.steps = recipe.stop.steps;
    made = trained::make_model(recipe::describe(recipe), prepared.model.vocabularies, recipe.train.seed);
    Trainer trainer(*made.model, *made.parameters, *prepared.corpus.train, recipe.train);
    for (int64_t i = 0; i < recipe.stop.steps; ++i) trainer.step();
  }

  std::vector<task::Prediction> predict(const std::vector<std::string>& lines) const {
    search::TapePool tapes;
    return prepared.recipe.task().predict(made.loaded(tapes), lines, {});
  }
};

int64_t brightest(const std::vector<float>& weights) {
  return std::max_element(weights.begin(), weights.end()) - weights.begin();
}
int64_t place_of(const data::DrawnShape& shape) { return shape.row * data::kScenePlaces + shape.column; }

TEST(LearnPictures, AQuestionFindsItsShape) {
  const PictureLearner learner("scenes", {"data.examples=10000", "stop.steps=1100", "model.picture_kernel=2"});
  const data::Pairs fresh = data::scene_questions(1000, 1, data::Split::test);
  const std::vector<task::Prediction> said = learner.predict(fresh.source);
  int64_t answers = 0, there = 0, cells = 0;
  for (size_t i = 0; i < said.size(); ++i) {
    ASSERT_EQ(said[i].error, "");
    const auto [name, question] = data::cut_picture_question(fresh.source[i]);
    answers += said[i].text() == fresh.target[i] ? 1 : 0;
    const data::Scene scene = data::scene_of(*data::scene_number(name));
    const data::DrawnShape* shape = scene.shape(question);
    if (!shape) continue;
    ++there;
    cells += brightest(said[i].nbest.front().alignment.at(0)) == place_of(*shape) ? 1 : 0;
  }
  RecordProperty("right_cells", static_cast<int>(cells));
  EXPECT_GE(answers, 950);
  EXPECT_GT(there, 800);
  EXPECT_GE(static_cast<double>(cells), 0.95 * static_cast<double>(there));
}

}  // namespace
}  // namespace heed::train
