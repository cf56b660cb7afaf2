// Small sequence-to-sequence models that are trained for a few seconds.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "heed/checkpoint/trained_model.h"
#include "heed/data/reverse.h"
#include "heed/task/seq2seq/texts.h"
#include "heed/train/evaluate.h"
#include "heed/train/recipe/recipe.h"
#include "heed/train/trainer.h"

namespace heed::train::test {

/// Strings of some digits, and the same backwards.
inline data::Pairs short_digits(int64_t count, data::Split split) {
  return data::reverse_pairs(count, 1, {.min_length = 1, .max_length = 7, .letters = false, .split = split});
}

struct Trial {
  std::string kind;  // rnn or transformer
  std::string score;
  int64_t steps = 500;
  int64_t examples = 3000;
  std::vector<std::string> more = {};
  std::function<data::Pairs(int64_t count, data::Split split)> pairs = short_digits;
};

inline std::ostream& operator<<(std::ostream& out, const Trial& t) { return out << t.kind << " " << t.score; }

class Learner {
 public:
  explicit Learner(const Trial& trial) {
    std::vector<std::string> overrides = {"data.task=reverse", "model.kind=" + trial.kind,
                                          "attention.score=" + trial.score,
                                          "stop.steps=" + std::to_string(trial.steps)};
    overrides.insert(overrides.end(), trial.more.begin(), trial.more.end());
    recipe_ = recipe::parse(trial.kind == "rnn" ? kRnn : kTransformer, "trial", overrides);
    task::TextPairs pairs{trial.pairs(trial.examples, data::Split::train), trial.pairs(200, data::Split::valid),
                          std::vector<data::Report>(2)};
    task::Vocabularies vocabularies = task::learn_vocabularies(pairs.train, recipe_.data);
    corpus_ = task::make_corpus(std::move(pairs), vocabularies, recipe_.data);
    made_ = trained::make_model(recipe::describe(recipe_), std::move(vocabularies), recipe_.train.seed);
    recipe_.train.schedule.steps = trial.steps;
  }

  /// Trains, and gives what one update has left as loss.
  double train() {
    Trainer trainer(*made_.model, *made_.parameters, *corpus_.train, recipe_.train);
    double nll = 0;
    for (int64_t i = 0; i < recipe_.stop.steps; ++i) nll = trainer.step().nll;
    return nll;
  }
  Evaluation test(int64_t longest = 12) const {
    search::TapePool tapes;
    task::Description description = made_.description;
    description.answers.longest = longest;
    const task::LoadedModel asked = {
        .model = *made_.model, .vocabularies = made_.vocabularies, .description = description, .tapes = tapes};
    return evaluate(recipe_.task(), asked, corpus_, {.decode = -1});
  }

  const trained::TrainedModel& made() const { return made_; }
  const task::Corpus& corpus() const { return corpus_; }

 private:
  static constexpr const char* kRnn = R"(
[model]
width = 32
dropout = 0.0
[train]
batch_tokens = 256
learning_rate = 0.01
schedule = "cosine"
warmup = 20
label_smoothing = 0.0
)";
  static constexpr const char* kTransformer = R"(
[model]
width = 32
hidden = 64
dropout = 0.0
norm = "pre"
[attention]
heads = 2
[train]
batch_tokens = 256
learning_rate = 0.005
schedule = "cosine"
warmup = 50
label_smoothing = 0.0
)";
  recipe::Recipe recipe_;
  task::Corpus corpus_;
  trained::TrainedModel made_;
};

}  // namespace heed::train::test
