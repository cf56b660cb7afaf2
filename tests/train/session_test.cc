#include <cerrno>
#include <stdexcept>

#include "heed/base/memory.h"
#include "heed/checkpoint/run_folder.h"
#include "heed/checkpoint/trained_model.h"
#include "tests/train/small_run.h"

namespace heed::train::test {
namespace {

using heed::test::names_in;

class SessionTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  Recorder seen_;
};

TEST_F(SessionTest, TellsWhatHappens) {
  const Finished finished = run(small_recipe(folder_ / "run"), seen_);
  ASSERT_EQ(seen_.starts.size(), 1u);
  EXPECT_EQ(seen_.starts[0].examples, 120);
  EXPECT_EQ(seen_.starts[0].valid_examples, 20);
  EXPECT_EQ(seen_.starts[0].source_tokens, 3 + 36);
  EXPECT_GT(seen_.starts[0].parameters, 1000);
  EXPECT_EQ(seen_.starts[0].resumed_from, 0);
  ASSERT_EQ(seen_.steps.size(), 24u);
  for (size_t i = 0; i < 24; ++i) EXPECT_EQ(seen_.steps[i].step, static_cast<int64_t>(i) + 1);
  EXPECT_LT(seen_.steps.back().loss, seen_.steps.front().loss);
  EXPECT_NEAR(seen_.progress.back().share, 1.0, 1e-12);
  EXPECT_GT(seen_.progress.back().tokens_per_second, 0);
  ASSERT_EQ(seen_.validations.size(), 4u);
  EXPECT_EQ(seen_.validations[0].step, 6);
  EXPECT_EQ(seen_.validations[0].evaluation.exact.count, 5);
  EXPECT_EQ(seen_.validations[0].evaluation.samples.size(), 3u);
  EXPECT_EQ(finished.ending, Ending::steps);
  EXPECT_EQ(finished.best, seen_.best);
  EXPECT_TRUE(seen_.warnings.empty());
  EXPECT_EQ(seen_.ends.size(), 1u);
}

TEST_F(SessionTest, KeepsTheLastAndTheBest) {
  run(small_recipe(folder_ / "run", {"validate.every=2"}), seen_);
  const file::RunFolder folder(folder_ / "run");
  const std::vector<std::string> names = folder.names();
  EXPECT_EQ(names.back(), "step-000024");
  EXPECT_GE(names.size(), 2u);
  EXPECT_LE(names.size(), 3u);
  EXPECT_EQ(folder.best_name(), seen_.best);
  EXPECT_NE(std::find(names.begin(), names.end(), seen_.best), names.end());
  EXPECT_EQ(names_in(folder_ / "run" / names.back()),
            (std::vector<std::string>{"MANIFEST.json", "config.toml", "model.toml", "optimiser.safetensors",
                                      "source.vocab", "state.json", "target.vocab", "weights.safetensors"}));
}

TEST_F(SessionTest, TheModelComesBack) {
  // With a moving average it is the average that is validated and kept.
  for (const char* average : {"train.average=0", "train.average=0.8"}) {
    const fs::path folder = folder_ / average;
    Recorder seen;
    run(small_recipe(folder, {average, "validate.decode=20", "validate.samples=20"}), seen);
    const TrainedModel model = trained::load_model(folder, "last");
    EXPECT_EQ(model.description.model.width, 8);
    const auto& samples = seen.validations.back().evaluation.samples;
    ASSERT_GE(samples.size(), 15u);  // short strings come twice
    std::vector<std::string> sources, outputs;
    for (const Sample& s : samples) {
      sources.push_back(s.source);
      outputs.push_back(s.output);
    }
    search::TapePool tapes;
    const std::vector<task::Prediction> said = model.task().predict(model.loaded(tapes), sources, {});
    ASSERT_EQ(said.size(), outputs.size());
    for (size_t i = 0; i < said.size(); ++i) EXPECT_EQ(said[i].text(), outputs[i]);
    EXPECT_EQ(trained::load_model(folder / seen.best).description.model.width, 8);  // a checkpoint itself
  }
}

TEST_F(SessionTest, PatienceEndsIt) {
  // Nothing of length 20 is ever right with so little training: the first validation stays the best.
  const Finished finished = run(small_recipe(folder_ / "run", {"validate.metric=exact", "stop.patience=3",
                                                               "validate.every=1", "stop.steps=1000"}),
                                seen_);
  EXPECT_EQ(finished.ending, Ending::patience);
  EXPECT_EQ(finished.step, 4);
  EXPECT_EQ(finished.best_step, 1);
  EXPECT_EQ(seen_.validations.back().waited, 3);
  EXPECT_TRUE(fs::exists(folder_ / "run" / "step-000001"));

  Recorder again;  // it has waited already
  EXPECT_EQ(run(small_recipe(folder_ / "run",
                             {"validate.metric=exact", "stop.patience=3", "validate.every=1", "stop.steps=1000"}),
                again, true)
                .step,
            4);
  EXPECT_TRUE(again.steps.empty());
}

TEST_F(SessionTest, AnyMetricSaysWhichIsTheBest) {
  for (const char* name : {"cer", "chrf", "bleu"}) {
    Recorder seen;
    run(small_recipe(folder_ / name, {"validate.every=4", std::string("validate.metric=") + name}), seen);
    double best = 0;
    for (const Validated& v : seen.validations) {
      ASSERT_TRUE(v.evaluation.task.has_value());
      EXPECT_EQ(v.value, v.evaluation.task->value);
      const bool first = &v == &seen.validations.front();
      EXPECT_EQ(v.is_best, first || (v.evaluation.task->higher_is_better ? v.value > best : v.value < best)) << name;
      if (v.is_best) best = v.value;
    }
  }
}

TEST_F(SessionTest, ABetterLossIsTheBest) {
  run(small_recipe(folder_ / "run", {"validate.every=4"}), seen_);
  double best = 1e9;
  for (const Validated& v : seen_.validations) {
    EXPECT_EQ(v.is_best, v.evaluation.nll < best);
    best = std::min(best, v.evaluation.nll);
  }
  EXPECT_EQ(seen_.ends.at(0).best_value, best);
}

TEST_F(SessionTest, EndsAfterEpochsOrMinutes) {
  const Finished epochs = run(small_recipe(folder_ / "epochs", {"stop.steps=0", "stop.epochs=2"}), seen_);
  EXPECT_EQ(epochs.ending, Ending::epochs);
  EXPECT_EQ(seen_.steps.back().epoch, 2);
  // As many batches as an epoch has, give or take one that is cut elsewhere.
  EXPECT_NEAR(static_cast<double>(epochs.step), 2.0 * static_cast<double>(seen_.starts[0].updates_per_epoch), 2.0);
  Recorder timed;
  const Finished minutes =
      run(small_recipe(folder_ / "minutes", {"train.schedule=constant", "stop.steps=0", "stop.minutes=0.002"}), timed);
  EXPECT_EQ(minutes.ending, Ending::minutes);
  EXPECT_GE(minutes.seconds, 0.12);
}

TEST_F(SessionTest, CheckpointsByTheClock) {
  run(small_recipe(folder_ / "run", {"validate.every=1000", "output.checkpoint_minutes=0.0000001"}), seen_);
  EXPECT_EQ(seen_.saves.size(), 25u);  // the last one again, after its validation
  EXPECT_EQ(seen_.saves.front(), "step-000001");
}

TEST_F(SessionTest, NotFiniteIsLeftOutAndEndsAfterTen) {
  const std::string said = error_of([&] {
    run(small_recipe(folder_ / "run",
                     {"train.learning_rate=3e38", "train.warmup=0", "train.schedule=constant", "validate.every=1"}),
        seen_);
  });
  expect_in("10 updates in a row", said);
  ASSERT_EQ(seen_.skips.size(), 9u);
  for (const StepReport& r : seen_.skips) expect_in("not finite", r.skipped);
  EXPECT_FALSE(file::RunFolder(folder_ / "run").names().empty());
}

TEST_F(SessionTest, AFullDiskIsReportedAndTheLastGoodOneStays) {
  int64_t step = 0;
  seen_.after_step = [&](int64_t now) { step = now; };
  file::disk_fault() = [&](std::string_view call, const fs::path&) {
    return call == "write" && step >= 12 && step < 24 ? ENOSPC : 0;
  };
  const Finished finished = run(small_recipe(folder_ / "run"), seen_);  // room again at the end
  EXPECT_EQ(finished.step, 24);
  ASSERT_EQ(seen_.warnings.size(), 2u);
  expect_in("update 12", seen_.warnings[0]);
  expect_in("the last good checkpoint is step-000006", seen_.warnings[0]);
  EXPECT_EQ(file::RunFolder(folder_ / "run").names().back(), "step-000024");
}

TEST_F(SessionTest, AFullDiskAtTheEndIsAnError) {
  int64_t step = 0;
  seen_.after_step = [&](int64_t now) { step = now; };
  file::disk_fault() = [&](std::string_view call, const fs::path&) {
    return call == "write" && step >= 20 ? ENOSPC : 0;
  };
  error_of<SaveError>([&] { run(small_recipe(folder_ / "run"), seen_); });
  file::disk_fault() = nullptr;
  EXPECT_EQ(file::RunFolder(folder_ / "run").open("last").name(), "step-000018");
}

TEST_F(SessionTest, ATrainingObserverThatFailsIsLeftAlone) {
  class Failing final : public TrainingObserver {
   public:
    void stepped(const StepReport& r, const Progress&) override {
      last = r.step;
      if (r.step == 3) throw Error("no room for the log");
    }
    int64_t last = 0;
  } failing;
  const Finished finished = run_session(small_recipe(folder_ / "run"), {.observers = {&failing, &seen_}});
  EXPECT_EQ(finished.step, 24);
  EXPECT_EQ(failing.last, 3);
  EXPECT_EQ(seen_.steps.size(), 24u);
  EXPECT_EQ(seen_.warnings, std::vector<std::string>{"no room for the log"});
}

TEST_F(SessionTest, WrongRecipesAreRefusedBeforeTheDataIsRead) {
  const auto refused = [&](const std::vector<std::string>& overrides) {
    return error_of<RecipeError>([&] { run(small_recipe(folder_ / "run", overrides), seen_); });
  };
  expect_in("small.toml: [attention] heads = 3 with [model] width = 8: query_width = 8 cannot be shared by 3 heads",
            refused({"attention.heads=3"}));
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(SessionTest, WhatTheMemoryCannotHoldIsRefusedBeforeItIsTaken) {
  const auto refused = [&](std::vector<std::string> overrides) -> std::string {
    try {
      run_session(small_recipe(folder_ / "large", std::move(overrides)), {});
    } catch (const std::bad_alloc& lack) {
      return memory_text(lack);
    }
    return "";
  };
  const std::string model = refused({"model.width=65536", "model.encoder_layers=1000"});
  expect_in("not enough memory: the training of ", model);
  expect_in(" parameters needs about ", model);
  expect_in("a smaller model.width", model);
  // Every kind of model can be counted so.
  EXPECT_NE(refused({"model.width=65536", "model.encoder_layers=1000", "model.cell=lstm"}), "");
  EXPECT_NE(refused({"model.width=65536", "model.encoder_layers=1000", "model.kind=transformer"}), "");
  const std::string data = refused({"data.examples=1000000000"});
  if (memory_left() < 200e9) expect_in("not enough memory: the data (data.examples = 1000000000", data);
}

TEST_F(SessionTest, SequencesMustFitLearnedPositions) {
  auto overrides = transformer();
  overrides.insert(overrides.end(), {"model.positions=learned", "model.max_length=10"});
  expect_in("model.max_length", error_of([&] { run(small_recipe(folder_ / "run", overrides), seen_); }));
  overrides.insert(overrides.end(), {"data.max_source=9", "data.max_target=9"});
  EXPECT_EQ(run(small_recipe(folder_ / "run", overrides), seen_).step, 24);
  ASSERT_FALSE(seen_.warnings.empty());
  expect_in("too long", seen_.warnings[0]);
}

TEST_F(SessionTest, NobodyWhoOnlyLooksOnEndsATraining) {
  class Failing final : public TrainingObserver {
   public:
    void stepped(const StepReport&, const Progress&) override { throw std::runtime_error("standard output is full"); }
  } failing;
  const Finished finished = run_session(small_recipe(folder_ / "run"), {.observers = {&failing, &seen_}});
  EXPECT_EQ(finished.step, 24);
  EXPECT_EQ(seen_.warnings, std::vector<std::string>{"standard output is full"});
}

TEST_F(SessionTest, TwoTrainingsDoNotShareAFolder) {
  std::string refused;
  seen_.after_step = [&](int64_t step) {
    if (step != 7) return;
    for (const bool resume : {false, true}) {
      Recorder other;
      refused = error_of<SaveError>([&] { run(small_recipe(folder_ / "run"), other, resume); });
      expect_in("is in use: another training", refused);
      EXPECT_TRUE(other.starts.empty());
    }
  };
  EXPECT_EQ(run(small_recipe(folder_ / "run"), seen_).step, 24);
  EXPECT_FALSE(refused.empty());
  Recorder after;
  EXPECT_EQ(run(small_recipe(folder_ / "run", {"stop.steps=26"}), after, true).step, 26);
}

TEST_F(SessionTest, AFolderWhoseNameIsNotUtf8) {
  Recipe recipe = small_recipe(folder_ / "run");
  recipe.output.folder = (folder_ / "r\xffn").string();
  EXPECT_EQ(run(recipe, seen_).step, 24);
  EXPECT_TRUE(seen_.warnings.empty());
  EXPECT_EQ(trained::load_model(recipe.output.folder).description.model.width, 8);
  recipe.stop.steps = 26;
  Recorder again;
  EXPECT_EQ(run(recipe, again, true).step, 26);
  EXPECT_EQ(again.starts.at(0).resumed_from, 24);
}

TEST_F(SessionTest, AModelIsLoadedAlsoWhereItsCheckpointIsRemovedMeanwhile) {
  run(small_recipe(folder_ / "run", {"stop.steps=12"}), seen_);
  const fs::path folder = folder_ / "run";
  for (const char* name : {"best", "last"}) {
    Recorder further;
    std::vector<std::string> tried;
    trained::with_checkpoint(folder, name, [&](const file::Checkpoint& checkpoint) {
      tried.push_back(checkpoint.name());
      if (tried.size() < 3) {  // as a training does: a new one first, then the old one goes
        file::RunFolder run(folder);
        const int64_t next = 100 * std::ssize(tried) + (*name == 'l' ? 1000 : 0);
        fs::copy(checkpoint.folder(), folder / file::RunFolder::name_of(next), fs::copy_options::recursive);
        run.mark_best(file::RunFolder::name_of(next));
        run.keep(1);
      }
      trained::load_model(checkpoint);
    });
    EXPECT_EQ(tried.size(), 3u) << name;
  }
  // One that stays and cannot be used is an error at once.
  int calls = 0;
  error_of([&] {
    trained::with_checkpoint(folder, "last", [&](const file::Checkpoint&) {
      ++calls;
      throw Error("no use");
    });
  });
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace heed::train::test
