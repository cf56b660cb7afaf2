// What recipes and checkpoints of earlier versions say is read as the words of today.
#include "heed/recipe/version_1.h"

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/file/checkpoint.h"
#include "heed/file/run_folder.h"
#include "heed/recipe/recipe.h"
#include "heed/task/all.h"
#include "heed/trained/average.h"
#include "heed/trained/export.h"
#include "heed/trained/trained_model.h"
#include "tests/train/small_run.h"

namespace heed::recipe::test {
namespace {

using train::test::Recorder;
using train::test::small_recipe;
using train::test::TemporaryFolder;
using train::test::fs::path;

Recipe with(const std::vector<std::string>& settings, const std::string& toml = "") {
  return parse(toml, "r.toml", settings);
}

TEST(FormerWords, Tasks) {
  struct Kind {
    const char *before, *now, *data;
  };
  for (const Kind& kind :
       {Kind{"pairs", "seq2seq", "data.tsv=x"}, Kind{"translation", "seq2seq", "data.tsv=x"},
        Kind{"label", "classification", "data.tsv=x"}, Kind{"next_token", "language_model", "data.text=x"},
        Kind{"picture", "image", "data.tsv=x"}}) {
    const Recipe r = with({std::string("model.task=") + kind.before, kind.data});
    EXPECT_EQ(r.model.task, kind.now);
    EXPECT_STREQ(task::find(kind.before).name, kind.now);
    EXPECT_EQ(r.notes, std::vector<std::string>{fmt::format("'{}' is now called '{}'", kind.before, kind.now)});
    EXPECT_EQ(with({std::string("model.task=") + kind.now, kind.data}).notes, std::vector<std::string>());
    EXPECT_NE(text_of(r).find(fmt::format("task = \"{}\"\n", kind.now)), std::string::npos);
  }
}

TEST(FormerWords, ValuesAndKeys) {
  const Recipe r = with({"data.tsv=x", "model.kind=transformer", "model.positions=sin_cos", "model.activation=swish"});
  EXPECT_EQ(r.model.positions, "sinusoidal");
  EXPECT_EQ(r.model.activation, "swiglu");
  EXPECT_EQ(r.notes.size(), 2u);
  const Recipe labels = with({}, "[model]\ntask = \"label\"\n[data]\ntsv = \"x\"\nlabels_between = \",\"\n");
  EXPECT_EQ(values_of(labels).at("data.label_separator"), "\",\"");
  EXPECT_EQ(labels.notes.size(), 2u);
  EXPECT_EQ(with({"data.tsv=x", "attention.normalize=sparsemax"}).model.attention.normalise, "sparsemax");
}

TEST(Version1, SomeWordsMeantSomethingElse) {
  const auto metric_of = [](const std::string& metric, Version version) {
    const std::string toml = "[data]\ntsv = \"x\"\n[validate]\nmetric = \"" + metric + "\"\n";
    return parse(toml, "r.toml", {}, nullptr, version).validate.metric;
  };
  EXPECT_EQ(metric_of("wer", Version::one), "ser");
  EXPECT_EQ(metric_of("per", Version::one), "wer");
  EXPECT_EQ(metric_of("cer", Version::one), "cer");
  EXPECT_EQ(metric_of("wer", Version::today), "wer");
  EXPECT_EQ(metric_of("per", Version::today), "per");
  const std::string rewarded = "[data]\ntsv = \"x\"\n[train]\nobjective = \"reinforce\"\nreward = \"per\"\n";
  EXPECT_EQ(parse(rewarded, "r.toml", {}, nullptr, Version::one).train.objective.reward, "wer");
  // An override is said today.
  const std::vector<std::string> today = {"validate.metric=per"};
  EXPECT_EQ(parse(rewarded, "r.toml", today, nullptr, Version::one).validate.metric, "per");
}

/// The checkpoint as version 1 would have written it: one text of it, and nothing that says a version.
void make_of_version_1(const path& folder, const file::Checkpoint& from) {
  file::CheckpointWriter writer;
  for (const file::CheckpointPart& part : from.parts()) {
    if (part.name == trained::version_part().first || part.name.ends_with(".safetensors")) continue;
    writer.add_text(part.name, from.text(part.name));
  }
  const trained::TrainedModel model = trained::load_model(from);
  writer.add_tensors(file::kWeightsPart, *model.parameters);
  writer.commit(folder);
}

TEST(Version1, CheckpointsSayWhichWordsTheyHave) {
  const TemporaryFolder folder;
  Recorder events;
  run(small_recipe(folder / "run", {"validate.metric=wer", "stop.steps=6"}), events);
  EXPECT_EQ(events.ends.at(0).metric, "wer");
  const auto metric_of = [](const path& model) { return trained::load_model(model).recipe.validate.metric; };
  EXPECT_EQ(metric_of(folder / "run"), "wer");

  const file::Checkpoint best = file::Checkpoint::open(folder / "run" / "step-000006");
  trained::export_model(best, folder / "new.heed");
  EXPECT_EQ(metric_of(folder / "new.heed"), "wer");
  trained::AverageCheckpoint(std::span(&best, 1)).write(folder / "mean");
  EXPECT_EQ(metric_of(folder / "mean"), "wer");

  make_of_version_1(folder / "old", best);
  EXPECT_EQ(metric_of(folder / "old"), "ser");
  const file::Checkpoint old = file::Checkpoint::open(folder / "old");
  trained::export_model(old, folder / "old.heed");
  EXPECT_EQ(metric_of(folder / "old.heed"), "ser");
  EXPECT_EQ(file::Checkpoint::open(folder / "old.heed", file::Purpose::run).state().text("best_metric"), "ser");
  trained::AverageCheckpoint(std::span(&old, 1)).write(folder / "old-mean");
  EXPECT_EQ(metric_of(folder / "old-mean"), "ser");
  EXPECT_TRUE(trained::recipe_of(old).notes.empty());
}

}  // namespace
}  // namespace heed::recipe::test
