// What recipes and checkpoints of earlier versions say is read as the words of today.
#include "heed/task/version_1.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "heed/base/fields.h"
#include "heed/checkpoint/average.h"
#include "heed/checkpoint/checkpoint.h"
#include "heed/checkpoint/export.h"
#include "heed/checkpoint/save.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/task/all.h"
#include "heed/train/recipe/of_model.h"
#include "heed/train/recipe/recipe.h"
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

std::string of_today(const std::string& section, const std::string& key, const std::string& word) {
  const std::string text = fmt::format("[{}]\n{} = \"{}\"\n", section, key, word);
  return file::peek(task::with_words_of_today(text), section + "." + key);
}

TEST(Version1, SomeWordsMeantSomethingElse) {
  for (const auto& [section, key] : {std::pair("validate", "metric"), std::pair("train", "reward")}) {
    EXPECT_EQ(of_today(section, key, "wer"), "ser");
    EXPECT_EQ(of_today(section, key, "per"), "wer");
    EXPECT_EQ(of_today(section, key, "cer"), "cer");
  }
  EXPECT_EQ(task::word_of_today("validate.metric", "wer"), "ser");
  EXPECT_EQ(task::word_of_today("validate.metric", "per"), "wer");
  EXPECT_EQ(task::word_of_today("model.task", "wer"), "wer");
  EXPECT_EQ(with({"data.tsv=x", "validate.metric=wer"}).validate.metric, "wer");  // what is said today
}

/// The checkpoint as version 1 would have written it: without a description.
void make_of_version_1(const path& folder, const file::Checkpoint& from) {
  file::CheckpointWriter writer;
  for (const file::CheckpointPart& part : from.parts())
    if (part.name != trained::kDescriptionPart && !part.name.ends_with(".safetensors"))
      writer.add_text(part.name, from.text(part.name));
  const trained::TrainedModel model = trained::load_model(from);
  writer.add_tensors(file::kWeightsPart, *model.parameters);
  writer.commit(folder);
}

TEST(Version1, CheckpointsSayWhichWordsTheyHave) {
  const TemporaryFolder folder;
  Recorder events;
  run(small_recipe(folder / "run", {"validate.metric=wer", "stop.steps=6"}), events);
  EXPECT_EQ(events.ends.at(0).metric, "wer");
  const auto metric_of = [](const path& model) { return of_model(trained::load_model(model)).validate.metric; };
  EXPECT_EQ(metric_of(folder / "run"), "wer");

  const file::Checkpoint best = file::Checkpoint::open(folder / "run" / "step-000006");
  trained::export_model(best, folder / "new.heed");
  EXPECT_EQ(metric_of(folder / "new.heed"), "wer");

  make_of_version_1(folder / "old", best);
  EXPECT_EQ(metric_of(folder / "old"), "ser");
  const file::Checkpoint old = file::Checkpoint::open(folder / "old");
  trained::export_model(old, folder / "old.heed");
  EXPECT_EQ(metric_of(folder / "old.heed"), "ser");
  EXPECT_EQ(file::Checkpoint::open(folder / "old.heed", file::Purpose::run).state().text("best_metric"), "ser");
  trained::save_model(trained::average(std::span(&old, 1)), folder / "old-mean");
  EXPECT_EQ(metric_of(folder / "old-mean"), "ser");
  EXPECT_TRUE(of_checkpoint(old).notes.empty());
}

}  // namespace
}  // namespace heed::recipe::test
