// Tiny models of every task that has attention, as recipes, and a training of three updates.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/model/encode/attention_places.h"
#include "heed/task/task.h"
#include "heed/train/recipe/recipe.h"
#include "heed/train/training_run.h"
#include "tests/base/temporary.h"

namespace heed::train::test {

using Settings = std::vector<std::string>;

/// A kind of model, and the places of attention that it has. One that it gets once something is said about it stands
/// behind a "+".
struct Kind {
  std::string name;
  Settings settings;
  std::vector<std::string> places;
};

inline std::vector<Kind> kinds() {
  const Settings pairs = {"model.task=seq2seq", "data.task=reverse", "data.examples=6", "data.valid_examples=2"};
  const Settings labels = {"model.task=classification", "data.tsv=labels.tsv", "data.valid_tsv=labels.tsv",
                           "data.text_column=1", "data.label_column=2"};
  const Settings two = {"model.task=classification", "data.tsv=two.tsv",    "data.valid_tsv=two.tsv",
                        "data.text_column=1",        "data.label_column=3", "data.second_text_column=2"};
  const Settings text = {"model.task=language_model", "data.text=text.txt", "data.valid_text=text.txt",
                         "data.text_tokens=words", "model.context=16"};
  const Settings masked = {"model.task=masked_language_model", "data.text=text.txt", "data.valid_text=text.txt",
                           "data.text_tokens=words", "model.context=16"};
  const Settings pictures = {"model.task=image",
                             "data.task=scenes",
                             "data.examples=4",
                             "data.valid_examples=2",
                             "model.picture_size=8",
                             "model.picture_layers=1",
                             "data.source_tokens=characters",
                             "data.target_tokens=characters"};
  const auto with = [](Settings settings, const Settings& more) {
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  };
  const Settings rnn = {"model.kind=rnn"}, transformer = {"model.kind=transformer"};
  return {{"pairs_rnn", with(pairs, rnn), {"source", "+encoder", "+decoder"}},
          {"pairs_feeding", with(pairs, {"model.kind=rnn", "model.input_feeding=true"}), {"source", "+decoder"}},
          {"pairs_transformer", with(pairs, transformer), {"source", "encoder", "decoder"}},
          {"pairs_parallel",
           with(pairs, {"model.kind=transformer", "model.decoder=parallel"}),
           {"source", "encoder", "decoder"}},
          {"label_rnn", with(labels, rnn), {"pool", "+encoder"}},
          {"label_transformer", with(labels, transformer), {"pool", "encoder"}},
          {"two_texts", with(two, {"model.kind=transformer", "model.relation=pool"}), {"other", "pool", "encoder"}},
          {"text_rnn", with(text, rnn), {"decoder"}},
          {"text_transformer", with(text, transformer), {"decoder"}},
          {"masked", with(masked, transformer), {"encoder"}},
          {"pictures", with(pictures, rnn), {"source", "+encoder", "+decoder"}}};
}

/// The files of their data.
inline void write_data(const heed::test::TemporaryFolder& folder) {
  heed::test::spill(folder / "labels.tsv",
                    "a good film . it was good . the plot was bad and the film was good . a good film !\tyes\n"
                    "a bad plot . bad !\tno\ngood good !\tyes\nit was bad\tno\n"
                    "the plot was good . a film\tyes\nbad film\tno\n");
  heed::test::spill(folder / "two.tsv",
                    "a good film\tit was good\tyes\na bad plot\tit was good !\tno\ngood good !\tgood\tyes\n"
                    "it was bad\tgood film\tno\nbad film\tit was bad\tyes\nthe plot\tbad\tno\n");
  std::string text;
  for (int i = 0; i < 4; ++i) text += "it was a good film . the plot was bad !\na bad plot , the good film was it .\n";
  heed::test::spill(folder / "text.txt", text);
}

inline recipe::Recipe recipe_of(const Kind& kind, const heed::test::TemporaryFolder& folder, const Settings& more) {
  Settings all = {"model.width=16",
                  "model.dropout=0",
                  "train.batch_tokens=256",
                  "stop.steps=3",
                  "train.learning_rate=0.05",
                  "train.warmup=0",
                  "train.label_smoothing=0",
                  "validate.decode=0",
                  "validate.metric=loss",
                  "data.folder=" + folder.path().string(),
                  "output.folder=" + (folder.path() / "out").string()};
  all.insert(all.end(), kind.settings.begin(), kind.settings.end());
  all.insert(all.end(), more.begin(), more.end());
  return recipe::parse("", "r.toml", all);
}

/// What a training of three updates comes to.
struct Outcome {
  std::string refusal;          // empty: it was trained
  std::vector<double> numbers;  // losses
  std::vector<attend::Made> made;
  recipe::Recipe settled;  // with all that was chosen
};

inline void train(Outcome& outcome, const recipe::Recipe& recipe) {
  TrainingRun run(recipe, {.checked = true}, {});
  outcome.settled = run.recipe();
  outcome.made = attentions_of(run.recipe());
  run.start_clock();
  outcome.numbers.push_back(static_cast<double>(run.about().parameters));
  for (int update = 0; update < 3; ++update) {
    const StepReport report = run.update(nullptr);
    EXPECT_TRUE(report.skipped.empty()) << report.skipped;
    outcome.numbers.push_back(report.loss);
    outcome.numbers.push_back(report.norm);
  }
  outcome.numbers.push_back(run.validate().value);
}

inline Outcome outcome_of(const Kind& kind, const heed::test::TemporaryFolder& folder, const Settings& more) {
  Outcome outcome;
  try {
    const recipe::Recipe recipe = recipe_of(kind, folder, more);
    check_model_on_data(recipe);
    train(outcome, recipe);
  } catch (const Error& error) {
    outcome.refusal = error.what();
    if (outcome.refusal.empty()) outcome.refusal = "?";
  }
  return outcome;
}

}  // namespace heed::train::test
