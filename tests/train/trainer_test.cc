#include "heed/train/trainer.h"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "heed/checkpoint/trained_model.h"
#include "heed/task/text_pairs.h"
#include "heed/train/evaluate.h"
#include "tests/threads.h"
#include "tests/train/small_run.h"

namespace heed::train::test {
namespace {

class TrainerTest : public testing::Test {
 protected:
  void make(const std::vector<std::string>& overrides = {}) {
    recipe_ = small_recipe("unused", overrides);
    const auto texts = recipe_.task().read(recipe_.data, 1);
    task::Vocabularies vocabularies = texts->learn_vocabularies(recipe_.data);
    corpus_ = texts->encode(vocabularies, recipe_.data, recipe_.model);
    recipe_.train.schedule = {.kind = "constant", .peak = 0.01f, .warmup = 0};
    made_ = trained::make_model(recipe::describe(recipe_), std::move(vocabularies), recipe_.train.seed);
    trainer_.emplace(*made_.model, *made_.parameters, *corpus_.train, recipe_.train);
  }
  std::vector<std::vector<float>> values() const {
    std::vector<std::vector<float>> all;
    for (const Parameter& p : *made_.parameters) all.push_back(p.value);
    return all;
  }

  Recipe recipe_;
  task::Corpus corpus_;
  TrainedModel made_;
  std::optional<Trainer> trainer_;
};

TEST_F(TrainerTest, AnUpdateThatIsNotFiniteChangesNothing) {
  make();
  EXPECT_EQ(trainer_->step().skipped, "");
  const auto before = values();
  float& bias = made_.parameters->at("output.bias").value[4];
  const float kept = std::exchange(bias, std::numeric_limits<float>::quiet_NaN());
  for (int i = 0; i < 9; ++i) expect_in("not finite", trainer_->step().skipped);
  bias = kept;
  EXPECT_EQ(values(), before);
  const StepReport good = trainer_->step();
  EXPECT_EQ(good.skipped, "");
  EXPECT_EQ(good.step, 11);
  EXPECT_TRUE(std::isfinite(good.norm));
}

TEST_F(TrainerTest, GradientsOfSeveralBatchesMakeOneUpdate) {
  // Two batches of half the size hold the same examples as one: the same loss and, up to rounding, the same gradient.
  make({"model.dropout=0", "data.examples=16", "train.batch_tokens=100000"});
  const StepReport one = trainer_->step();
  make({"model.dropout=0", "data.examples=16", "train.batch_tokens=1", "train.accumulate=16"});
  const StepReport many = trainer_->step();
  EXPECT_EQ(one.tokens, many.tokens);
  EXPECT_NEAR(one.loss, many.loss, 1e-5 * one.loss);
  EXPECT_NEAR(one.norm, many.norm, 1e-4 * one.norm);
  EXPECT_EQ(one.epoch, many.epoch);
  EXPECT_EQ(trainer_->epoch(), 1);
}

TEST_F(TrainerTest, LossesDoNotDependOnTheThreads) {
  std::vector<double> losses[2];
  for (const int threads : {1, 2}) {
    const heed::test::Threads guard(threads);
    make({"model.width=32"});
    for (int i = 0; i < 5; ++i) losses[threads - 1].push_back(trainer_->step().loss);
  }
  for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(losses[0][i], losses[1][i], 1e-6 * losses[0][i]);
}

TEST_F(TrainerTest, TheAverageIsSlowButNotAtFirst) {
  // d = min(decay, (1 + step) / (10 + step)): 2 / 11 after the first update, or the decay where that is less
  for (const auto& [decay, first_kept] : {std::pair{"0.9", 2.0f / 11.0f}, std::pair{"0.1", 0.1f}}) {
    make({std::string("train.average=") + decay});
    const auto first = values();
    trainer_->step();
    const auto second = values();
    const Trainer::Averaged averaged(*trainer_);
    const auto slow = values();
    for (size_t p = 0; p < slow.size(); ++p)
      for (size_t i = 0; i < slow[p].size(); ++i)
        EXPECT_NEAR(slow[p][i], first_kept * first[p][i] + (1.0f - first_kept) * second[p][i], 1e-6f) << decay;
  }
}

/// Inference keeps copies of the weights. Train, evaluate, train, evaluate: what it sees is what the weights are now.
TEST_F(TrainerTest, EvaluationSeesTheWeightsOfNow) {
  make({"model.width=32", "train.average=0.9"});
  const auto batch = corpus_.train->pack(std::vector<int64_t>{0, 1, 2, 3});
  Tape tape({.recording = false, .training = false});
  const auto evaluate = [&] {
    tape.reset();
    return made_.model->loss(tape, batch, {}).negative_log_likelihood;
  };
  const auto expect_now = [&](double before) {
    const double seen = evaluate();
    EXPECT_NE(seen, before);
    for (Parameter& p : *made_.parameters) p.value.data();  // who may write drops the copies
    EXPECT_EQ(evaluate(), seen);
    return seen;
  };
  double last = evaluate();
  for (int times = 0; times < 3; ++times) {
    trainer_->step();
    last = expect_now(last);
    {
      const Trainer::Averaged averaged(*trainer_);
      expect_now(last);
    }
    EXPECT_EQ(evaluate(), last) << "the average is gone again";
  }
}

// ----------------------------------------------------------------------------------------------------------- schedules

TEST(Schedule, FollowsTheFormulas) {
  const optimise::ScheduleOptions root{.kind = "inverse_sqrt", .peak = 2.0f, .warmup = 100};
  EXPECT_FLOAT_EQ(optimise::learning_rate(root, 1), 0.02f);
  EXPECT_FLOAT_EQ(optimise::learning_rate(root, 100), 2.0f);
  EXPECT_FLOAT_EQ(optimise::learning_rate(root, 400), 1.0f);
  const optimise::ScheduleOptions cosine{.kind = "cosine", .peak = 1.0f, .floor = 0.2f, .warmup = 10, .steps = 110};
  EXPECT_FLOAT_EQ(optimise::learning_rate(cosine, 5), 0.5f);
  EXPECT_FLOAT_EQ(optimise::learning_rate(cosine, 10), 1.0f);
  EXPECT_FLOAT_EQ(optimise::learning_rate(cosine, 60), 0.6f);
  EXPECT_FLOAT_EQ(optimise::learning_rate(cosine, 110), 0.2f);
  EXPECT_FLOAT_EQ(optimise::learning_rate(cosine, 1000), 0.2f);
  const optimise::ScheduleOptions constant{.kind = "constant", .peak = 0.5f, .warmup = 0};
  EXPECT_FLOAT_EQ(optimise::learning_rate(constant, 1), 0.5f);
  expect_in("linear", error_of([] { optimise::learning_rate({.kind = "linear", .warmup = 0}, 1); }));
}

}  // namespace
}  // namespace heed::train::test
