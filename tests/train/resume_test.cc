// slow: 20 s
// A training run that was stopped, killed or lost a checkpoint continues as if nothing had happened, bit for bit.
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>

#include "heed/base/json.h"
#include "tests/train/small_run.h"

namespace heed::train::test {
namespace {

struct Case {
  const char* name;
  std::vector<std::string> overrides;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class Resume : public testing::TestWithParam<Case> {
 protected:
  // A process that has used several threads cannot be forked: GNU's OpenMP would wait for ever in the child.
  void SetUp() override { omp_set_num_threads(1); }

  Recipe recipe(const fs::path& folder) const { return small_recipe(folder, GetParam().overrides); }

  static std::string weights(const fs::path& folder) {
    return heed::test::slurp(folder / "step-000024" / "weights.safetensors") +
           heed::test::slurp(folder / "step-000024" / "optimiser.safetensors");
  }
  /// Update n of `steps` is the same as of `all`.
  static void expect_same(const std::vector<StepReport>& steps, const std::vector<StepReport>& all) {
    for (const StepReport& r : steps) {
      const StepReport& right = all.at(static_cast<size_t>(r.step) - 1);
      EXPECT_EQ(r.loss, right.loss) << r.step;
      EXPECT_EQ(r.nll, right.nll) << r.step;
      EXPECT_EQ(r.norm, right.norm) << r.step;
      EXPECT_EQ(r.rate, right.rate) << r.step;
      EXPECT_EQ(r.tokens, right.tokens) << r.step;
      EXPECT_EQ(r.epoch, right.epoch) << r.step;
    }
  }

  TemporaryFolder folder_;
};

TEST_P(Resume, AfterAStop) {
  Recorder whole, first, second, third;
  run(recipe(folder_ / "whole"), whole);
  ASSERT_EQ(whole.steps.size(), 24u);
  EXPECT_GT(whole.steps.back().epoch, 1);  // the order of a later epoch is part of it

  EXPECT_EQ(run_until(recipe(folder_ / "parts"), first, 7).ending, Ending::stopped);
  EXPECT_EQ(run_until(recipe(folder_ / "parts"), second, 12, true).ending, Ending::stopped);
  EXPECT_EQ(run(recipe(folder_ / "parts"), third, true).ending, Ending::steps);
  EXPECT_EQ(first.steps.size(), 7u);
  EXPECT_EQ(second.steps.size(), 5u);
  EXPECT_EQ(third.steps.size(), 12u);
  EXPECT_EQ(third.starts.at(0).resumed_from, 12);
  for (const Recorder* part : {&first, &second, &third}) expect_same(part->steps, whole.steps);
  EXPECT_EQ(weights(folder_ / "parts"), weights(folder_ / "whole"));
  EXPECT_EQ(third.ends.at(0).best_value, whole.ends.at(0).best_value);
  EXPECT_EQ(third.ends.at(0).best, whole.ends.at(0).best);
}

TEST_P(Resume, AfterKill9) {
  // At an update without a checkpoint, at one that has just been written, and before there is any.
  for (const int64_t killed_at : {14, 13, 3}) {
    const fs::path folder = folder_ / ("killed-" + std::to_string(killed_at));
    const pid_t child = ::fork();
    if (child == 0) {
      Recorder recorder;
      recorder.after_step = [&](int64_t step) {
        if (step == killed_at) ::raise(SIGKILL);
      };
      run(recipe(folder), recorder);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    Recorder rest;
    run(recipe(folder), rest, true);
    EXPECT_EQ(rest.starts.at(0).resumed_from, (killed_at - 1) / 6 * 6);

    Recorder whole;
    const fs::path other = folder_ / ("whole-" + std::to_string(killed_at));
    run(recipe(other), whole);
    // One that begins again says what a new one says.
    EXPECT_EQ(rest.warnings, killed_at > 6 ? std::vector<std::string>() : whole.warnings);
    expect_same(rest.steps, whole.steps);
    EXPECT_EQ(weights(folder), weights(other));
  }
}

TEST_P(Resume, WithoutTheNewestCheckpoint) {
  Recorder whole, rest;
  run(recipe(folder_ / "whole"), whole);
  Recorder first;
  run_until(recipe(folder_ / "run"), first, 13);
  heed::test::spill(folder_ / "run" / "step-000013" / "weights.safetensors", "broken");
  run(recipe(folder_ / "run"), rest, true);
  ASSERT_EQ(rest.warnings.size(), 1u);
  expect_in("step-000013", rest.warnings[0]);
  expect_in("weights.safetensors", rest.warnings[0]);
  expect_in("resuming from step-000012", rest.warnings[0]);
  EXPECT_EQ(rest.starts.at(0).resumed_from, 12);
  expect_same(rest.steps, whole.steps);
  EXPECT_EQ(weights(folder_ / "run"), weights(folder_ / "whole"));
}

std::vector<std::string> with(std::vector<std::string> base, const std::vector<std::string>& more) {
  base.insert(base.end(), more.begin(), more.end());
  return base;
}

INSTANTIATE_TEST_SUITE_P(
    , Resume,
    testing::Values(
        Case{"rnn", {}}, Case{"lstm_fed", {"model.cell=lstm", "model.input_feeding=true"}},
        Case{"averaged", {"train.average=0.9", "train.accumulate=2", "train.weight_decay=0.1"}},
        Case{"transformer", transformer()},
        Case{"scheduled_sampling",
             {"train.objective=scheduled_sampling", "train.sampling_token=drawn", "train.sampling_most=0.7",
              "train.sampling_steps=8"}},
        Case{"sampling_passes",
             with(transformer(), {"train.objective=scheduled_sampling", "train.sampling_schedule=inverse_sigmoid",
                                  "train.sampling_passes=2", "train.sampling_steps=9"})},
        Case{"reinforce", {"train.objective=reinforce", "train.reward=cer", "train.hypotheses=3"}},
        Case{"minimum_risk",
             {"train.objective=minimum_risk", "train.reward=chrf", "train.hypotheses=3", "train.hypotheses_by=nbest",
              "train.accumulate=2"}},
        Case{"self_critical",
             {"attention.normalise=hard_sampled", "attention.baseline=self_critical", "attention.entropy_weight=0.1",
              "attention.entropy_schedule=linear", "attention.entropy_steps=9"}},
        Case{"guided", {"attention.time=guided", "attention.guide_schedule=exponential", "attention.guide_steps=5"}},
        Case{"joint", with(transformer(),
                           {"data.joint=true", "model.tied=all", "model.norm=pre", "train.schedule=inverse_sqrt"})}),
    [](const auto& info) { return std::string(info.param.name); });

// ------------------------------------------------------------------------------------------------- what must not go on

class Refusal : public testing::Test {
 protected:
  void SetUp() override {
    Recorder recorder;
    run_until(small_recipe(folder_ / "run"), recorder, 7);
  }
  std::string again(const std::vector<std::string>& overrides) {
    return error_of([&] {
      Recorder recorder;
      run(small_recipe(folder_ / "run", overrides), recorder, true);
    });
  }
  TemporaryFolder folder_;
};

TEST_F(Refusal, AnotherModelOrSeed) {
  expect_in("model.width is 16, was 8", again({"model.width=16"}));
  expect_in("train.seed is 2, was 1", again({"train.seed=2"}));
  expect_in("attention.score is \"general\", was \"additive\"", again({"attention.score=general"}));
}

TEST_F(Refusal, OtherData) { expect_in("the data differs from that of", again({"data.examples=121"})); }

TEST_F(Refusal, AFolderInUse) {
  Recorder recorder;
  const std::string said = error_of<SaveError>([&] { run(small_recipe(folder_ / "run"), recorder); });
  expect_in("--resume", said);
}

TEST_F(Refusal, NothingButDamage) {
  for (const auto& name : heed::test::names_in(folder_ / "run"))
    if (name.starts_with("step-")) heed::test::spill(folder_ / "run" / name / "MANIFEST.json", "{");
  expect_in("no checkpoint can be used", again({}));
}

TEST_F(Refusal, MoreUpdatesAreFine) {
  Recorder recorder;
  const Finished finished = run(small_recipe(folder_ / "run", {"stop.steps=30"}), recorder, true);
  EXPECT_EQ(finished.step, 30);
  EXPECT_EQ(recorder.starts.at(0).resumed_from, 7);
}

TEST_F(Refusal, AFinishedTrainingStaysAsItIs) {
  Recorder first, again;
  run(small_recipe(folder_ / "run"), first, true);
  const Finished finished = run(small_recipe(folder_ / "run"), again, true);
  EXPECT_EQ(finished.step, 24);
  EXPECT_TRUE(again.steps.empty());
  EXPECT_TRUE(again.saves.empty());
  EXPECT_EQ(finished.best, first.ends.at(0).best);
}

TEST(ResumeNothing, StartsAnew) {
  const TemporaryFolder folder;
  Recorder recorder;
  EXPECT_EQ(run(small_recipe(folder / "new"), recorder, true).step, 24);
}

/// One part of the newest checkpoint says something else, and the manifest agrees with it: a state is checked, not
/// trusted.
class Tampered : public Refusal {
 protected:
  std::string with(const std::string& part, const std::function<void(std::string&)>& change) {
    const fs::path folder = folder_ / "run" / "step-000007", copy = folder_ / "copy";
    if (!fs::exists(copy)) fs::copy(folder, copy, fs::copy_options::recursive);
    const file::Checkpoint checkpoint = file::Checkpoint::open(copy);
    file::CheckpointWriter writer;
    for (const file::CheckpointPart& each : checkpoint.parts()) {
      std::string text = checkpoint.text(each.name);
      if (each.name == part) {
        const std::string before = text;
        change(text);
        EXPECT_NE(text, before);
      }
      writer.add_text(each.name, text);
    }
    writer.commit(folder);
    return again({});
  }
  std::string with_state(const std::string& name, const file::Json& value) {
    return with("state.json", [&](std::string& text) {
      file::Json state = *file::Json::parse(text);
      state[name] = value;
      text = state.text(2);
    });
  }
};

TEST_F(Tampered, NumbersOfTheStateAreInRange) {
  for (const char* name : {"step", "epoch", "batch", "skipped", "waited", "validated", "best_step"})
    for (const int64_t value : {int64_t{-2}, int64_t{1000}, int64_t{1'000'000'000}, INT64_MAX, INT64_MIN}) {
      const std::string said = with_state(name, value);
      const bool other = std::string(name) == "step" && said.find("belongs to another checkpoint") != said.npos;
      EXPECT_TRUE(other || said.find(fmt::format("'{}' must be", name)) != said.npos) << name << value << said;
    }
  expect_in(
      "'adam.",
      with_state(
          "adam." + file::Checkpoint::open(folder_ / "copy").tensors("weights.safetensors").tensors().front().name,
          -5));
  expect_in("'seconds' in state.json cannot be -1", with_state("seconds", -1.0));
  expect_in("'seconds' in state.json cannot be nan", with_state("seconds", file::Json::object({{"real", "nan"}})));
  expect_in("must be a whole number", with_state("batch", 0.5));
}

TEST_F(Tampered, NumbersOfTheOptimiserMustFit) {
  const std::vector<std::string> overrides = {"train.average=0.8"};
  Recorder recorder;
  run_until(small_recipe(folder_ / "averaged", overrides), recorder, 3);
  const fs::path folder = folder_ / "averaged" / "step-000003";
  const file::Checkpoint checkpoint = file::Checkpoint::open(folder);
  const file::Safetensors tensors = checkpoint.tensors(file::kOptimiserPart);
  // Fewer numbers, and as many in another shape.
  const auto shorter = [](std::vector<int64_t>) { return std::vector<int64_t>{1}; };
  const auto turned = [](std::vector<int64_t> shape) {
    std::reverse(shape.begin(), shape.end());
    return shape;
  };
  const auto flat = [](const std::vector<int64_t>& shape) {
    int64_t size = 1;
    for (const int64_t extent : shape) size *= extent;
    return std::vector<int64_t>{size};
  };
  using Change = std::function<std::vector<int64_t>(const std::vector<int64_t>&)>;
  const std::vector<std::pair<const char*, Change>> changes = {
      {"shorter", shorter}, {"turned", turned}, {"flat", flat}};
  for (const char* kind : {"first.", "second.", "value."})
    for (const auto& [name, change] : changes) {
      file::CheckpointWriter writer;
      for (const file::CheckpointPart& part : checkpoint.parts())
        if (part.name != file::kOptimiserPart) writer.add_text(part.name, checkpoint.text(part.name));
      std::vector<std::vector<float>> values;
      std::vector<file::TensorToWrite> changed;
      std::string wanted;  // what is said of the first that differs
      for (const file::StoredTensor& tensor : tensors.tensors()) {
        values.push_back(tensors.values(tensor.name));
        changed.push_back({tensor.name, tensor.shape, values.back().data()});
        if (!tensor.name.starts_with(kind)) continue;
        changed.back().shape = change(tensor.shape);
        if (wanted.empty() && changed.back().shape != tensor.shape)
          wanted = fmt::format("'{}' must be {}, as the weights '{}' are, not {}", tensor.name,
                               file::shape_text(tensor.shape), tensor.name.substr(std::string_view(kind).size()),
                               file::shape_text(changed.back().shape));
      }
      ASSERT_NE(wanted, "") << name;
      writer.add_tensors(file::kOptimiserPart, changed);
      writer.commit(folder_ / "changed" / "step-000003");
      Recorder again;
      const std::string said = error_of([&] { run(small_recipe(folder_ / "changed", overrides), again, true); });
      expect_in(wanted, said);
    }
}

}  // namespace
}  // namespace heed::train::test
