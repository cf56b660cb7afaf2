// Sequence to sequence learns: one batch can be learned by heart, and to read backwards is learned with every score.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/attend/all.h"
#include "heed/data/reverse.h"
#include "heed/task/pair_texts.h"
#include "heed/train/evaluate.h"
#include "heed/train/trainer.h"
#include "heed/trained/trained_model.h"

namespace heed::train {
namespace {

// ------------------------------------------------------------------------------------------------------- small models

struct Trial {
  std::string kind;  // rnn or transformer
  std::string score;
  int64_t steps = 500;
  int64_t examples = 3000;
  std::vector<std::string> more = {};
};

std::ostream& operator<<(std::ostream& out, const Trial& t) { return out << t.kind << " " << t.score; }

/// Reverses strings of some digits.
class Learner {
 public:
  explicit Learner(const Trial& trial) {
    std::vector<std::string> overrides = trial.more;
    overrides.insert(overrides.end(), {"data.task=reverse", "model.kind=" + trial.kind,
                                       "attention.score=" + trial.score, "stop.steps=" + std::to_string(trial.steps)});
    recipe_ = recipe::parse(trial.kind == "rnn" ? kRnn : kTransformer, "trial", overrides);
    const data::ReverseOptions digits{.min_length = 1, .max_length = 7, .letters = false};
    data::ReverseOptions others = digits;
    others.split = data::Split::valid;
    task::TextPairs pairs{data::reverse_pairs(trial.examples, 1, digits), data::reverse_pairs(200, 1, others),
                          std::vector<data::Report>(2)};
    task::Vocabularies vocabularies = task::learn_vocabularies(pairs.train, recipe_.data);
    corpus_ = task::make_corpus(std::move(pairs), vocabularies, recipe_.data);
    made_ = trained::make_model(recipe_, std::move(vocabularies));
    recipe_.train.schedule.steps = trial.steps;
  }

  /// Trains, and gives what one update has left as loss.
  double train() {
    Trainer trainer(*made_.model, *made_.parameters, *corpus_.train, recipe_.train);
    double nll = 0;
    for (int64_t i = 0; i < recipe_.stop.steps; ++i) nll = trainer.step().nll;
    return nll;
  }
  Evaluation test() const {
    search::TapePool tapes;
    task::Answering asked = made_.answering(tapes);
    asked.longest = 12;
    return evaluate(recipe_.task(), asked, corpus_, {.decode = -1});
  }

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

// ------------------------------------------------------------------------------------------------------------ learning

class Learns : public testing::TestWithParam<Trial> {};

TEST_P(Learns, ToReadBackwards) {
  Learner learner(GetParam());
  learner.train();
  const Evaluation e = learner.test();
  EXPECT_GE(e.exact.rate(), 0.9) << "loss " << e.nll;
}

/// Every score of the catalogue, but those that cannot know where to look: the place of the last letter differs from
/// source to source, and these look at the query alone, at the key alone, or at neither. In a Transformer the
/// synthesizers are in the self-attention only.
std::vector<Trial> scores() {
  const std::vector<std::string> blind = {"self_scored", "synthesizer_dense", "synthesizer_random"};
  std::vector<Trial> all;
  for (const attend::Entry* entry : attend::all()) {
    if (entry->part != attend::Part::score) continue;
    const bool sees = std::find(blind.begin(), blind.end(), entry->name) == blind.end();
    if (sees && std::string_view(entry->name) != "intra") all.push_back({"rnn", entry->name});
    if (sees || std::string_view(entry->name) != "self_scored")
      all.push_back({"transformer", entry->name, std::string_view(entry->name) == "dot" ? 1500 : 900});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(, Learns, testing::ValuesIn(scores()),
                         [](const auto& info) { return info.param.kind + "_" + info.param.score; });

/// An encoder of one kind and a decoder of another.
INSTANTIATE_TEST_SUITE_P(
    Mixed, Learns,
    testing::Values(Trial{"rnn", "additive", 900, 3000, {"model.encoder=transformer", "model.norm=pre"}},
                    Trial{"transformer", "scaled_dot", 900, 3000, {"model.encoder=rnn"}}),
    [](const auto& info) { return info.param.kind + "_decoder_" + info.param.score; });

/// All positions at once: every output digit must find its place in the source by its own position and the length.
INSTANTIATE_TEST_SUITE_P(
    AtOnce, Learns,
    testing::Values(Trial{"transformer", "scaled_dot", 1200, 3000, {"model.decoder=parallel", "model.max_length=16"}},
                    Trial{"transformer",
                          "scaled_dot",
                          1200,
                          3000,
                          {"model.decoder=parallel", "model.length=slots", "model.slots=9"}}),
    [](const auto& info) { return info.param.more.back().starts_with("model.slots") ? "slots" : "classifier"; });

class LearnsByHeart : public testing::TestWithParam<Trial> {};

TEST_P(LearnsByHeart, OneBatch) {
  Learner learner(GetParam());
  EXPECT_LT(learner.train(), 0.01);
}

INSTANTIATE_TEST_SUITE_P(
    , LearnsByHeart,
    testing::Values(Trial{"rnn", "additive", 150, 16}, Trial{"transformer", "scaled_dot", 150, 16},
                    Trial{"rnn", "general", 150, 16, {"model.cell=lstm", "model.input_feeding=true"}},
                    Trial{"transformer", "additive", 150, 16, {"model.norm=post"}}),
    [](const auto& info) { return info.param.kind + "_" + info.param.score; });

}  // namespace
}  // namespace heed::train
