// Updates of several batches: each is computed from nothing, by whoever, and they are added in a fixed tree.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "heed/checkpoint/trained_model.h"
#include "heed/train/objective/all.h"
#include "heed/train/optimise/gradient_sum.h"
#include "heed/train/trainer.h"
#include "tests/train/small_run.h"

namespace heed::train::test {
namespace {

using Gradients = std::vector<std::vector<float>>;  // by parameter; empty: none

Gradients gradients_of(const Parameters& parameters) {
  Gradients all;
  for (const Parameter& p : parameters) all.push_back(p.has_gradient ? p.gradient : std::vector<float>());
  return all;
}

/// What is made of a recipe, with one objective. Two of the same recipe have the same weights.
struct Worker {
  explicit Worker(const Recipe& recipe) : recipe(recipe) {
    const auto texts = recipe.task().read(recipe.data, 1);
    made = trained::make_model(recipe::describe(recipe), texts->learn_vocabularies(recipe.data), recipe.train.seed);
    corpus = texts->encode(made.vocabularies, recipe.data, made.description.model);
  }
  std::unique_ptr<objective::Objective> objective() const {
    return objective::find(recipe.train.objective.name)
        .make({.model = *made.model,
               .vocabularies = made.vocabularies,
               .examples = *corpus.train,
               .options = recipe.train.objective,
               .label_smoothing = recipe.train.label_smoothing,
               .batch_tokens = recipe.train.batch_tokens,
               .updates = 10,
               .longest = 25});
  }

  /// The gradients of one batch of the first update, from nothing.
  Gradients gradients(int64_t number, const data::RecurrentCarry& carried = {}) const {
    const auto& o = recipe.train;
    const auto batches = corpus.train->batches(
        {.max_tokens = o.batch_tokens, .seed = o.seed, .side_by_side = o.accumulate}, /*epoch=*/0);
    EXPECT_GE(std::ssize(batches), o.accumulate);
    int64_t tokens = 0, examples = 0;
    for (int64_t i = 0; i < o.accumulate; ++i)
      for (const int64_t example : batches[static_cast<size_t>(i)]) {
        tokens += corpus.train->predictions(example);
        ++examples;
      }
    auto packed = corpus.train->pack(batches[static_cast<size_t>(number)]);
    packed.carried = &carried;
    made.parameters->forget_gradients();
    Tape tape;
    objective()->run(tape, packed,
                     {.number = number,
                      .share = 1.0 / static_cast<double>(tokens),
                      .example_share = 1.0 / static_cast<double>(examples),
                      .seed = o.seed * 1'000'003 + static_cast<uint64_t>(o.accumulate + number)});
    Gradients all = gradients_of(*made.parameters);
    made.parameters->forget_gradients();
    return all;
  }

  Recipe recipe;
  task::Corpus corpus;
  TrainedModel made;
};

/// Adds what workers computed, as one of them would.
Gradients added(Parameters& parameters, std::span<const Gradients> parts) {
  optimise::GradientSum sum(parameters);
  sum.begin(std::ssize(parts));
  for (const Gradients& part : parts) {
    size_t n = 0;
    for (Parameter& p : parameters) {
      p.gradient = part[n++];
      p.has_gradient = !p.gradient.empty();
    }
    sum.end_batch();
  }
  Gradients all = gradients_of(parameters);
  parameters.forget_gradients();
  return all;
}

struct AccumulateCase {
  const char* name;
  std::vector<std::string> overrides;
};

std::ostream& operator<<(std::ostream& out, const AccumulateCase& c) { return out << c.name; }

class Accumulate : public testing::TestWithParam<AccumulateCase> {
 protected:
  Recipe recipe(int64_t accumulate) const {
    std::vector<std::string> overrides = GetParam().overrides;
    overrides.insert(overrides.end(), {"train.batch_tokens=60", "train.clip=0", "train.warmup=0",
                                       "train.accumulate=" + std::to_string(accumulate)});
    return small_recipe("unused", overrides);
  }
  /// The gradients of the trainer's first update: Adam only reads them.
  static Gradients first_update(Worker& worker) {
    Trainer trainer(worker.objective(), *worker.made.parameters, *worker.corpus.train, worker.recipe.train);
    EXPECT_EQ(trainer.step().skipped, "");
    for (Parameter& p : *worker.made.parameters) p.has_gradient = p.trainable && !p.gradient.empty();
    return gradients_of(*worker.made.parameters);
  }
};

TEST_P(Accumulate, IsTheSumOfItsBatchesInDouble) {
  for (const int64_t count : {1, 2, 3, 5, 8}) {
    Worker worker(recipe(count));
    std::vector<Gradients> parts;
    for (int64_t i = 0; i < count; ++i) parts.push_back(worker.gradients(i));
    const Gradients sum = first_update(worker);
    size_t found = 0;
    for (size_t p = 0; p < sum.size(); ++p)
      for (size_t i = 0; i < sum[p].size(); ++i) {
        double right = 0.0, sizes = 0.0;
        for (const Gradients& part : parts) {
          if (part[p].empty()) continue;
          right += part[p][i];
          sizes += std::abs(double{part[p][i]});
        }
        // A number passes as many additions as the tree is high, each with half a unit of the last place.
        const double height = std::ceil(std::log2(static_cast<double>(count)));
        ASSERT_LE(std::abs(sum[p][i] - right), height * 0x1.0p-24 * sizes * (1 + 1e-6)) << count;
        found += right != 0.0;
      }
    EXPECT_GT(found, 1000u);
  }
}

/// Workers with a model each, which compute blocks of the batches of an update in turn, find what a trainer finds
/// alone.
TEST_P(Accumulate, IsTheSameWhoeverComputesWhich) {
  constexpr int64_t kCount = 7;
  Worker alone(recipe(kCount));
  const Gradients right = first_update(alone);
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < 4; ++i) workers.push_back(std::make_unique<Worker>(recipe(kCount)));
  for (const size_t used : {size_t{1}, size_t{2}, size_t{4}})
    for (const int64_t block : {1, 2, 4}) {
      std::vector<Gradients> sums;
      for (int64_t first = 0; first < kCount; first += block) {
        Worker& worker = *workers[static_cast<size_t>(first / block) % used];
        std::vector<Gradients> parts;
        // Backwards: who is faster does not matter.
        for (int64_t i = std::min(first + block, kCount); i-- > first;)
          parts.insert(parts.begin(), worker.gradients(i));
        sums.push_back(added(*worker.made.parameters, parts));
      }
      EXPECT_EQ(added(*workers[0]->made.parameters, sums), right) << used << " workers, blocks of " << block;
    }
}

TEST_P(Accumulate, GradientsAreFinalWhenTheTapeSaysSo) {
  Worker worker(recipe(1));
  const std::unique_ptr<objective::Objective> objective = worker.objective();
  const auto batches = worker.corpus.train->batches({.max_tokens = 60, .seed = 1}, 0);
  auto packed = worker.corpus.train->pack(batches[0]);
  Tape tape;
  struct Told {
    int64_t times = 0;
    std::vector<float> last;
  };
  std::map<const Parameter*, Told> told;
  tape.on_final_gradient([&](Parameter& p) {
    ++told[&p].times;
    told[&p].last = p.gradient;
  });
  objective->run(tape, packed, {.seed = 3});
  size_t n = 0;
  int64_t most = 0;
  for (const Parameter& p : *worker.made.parameters) {
    if (!p.has_gradient) continue;
    EXPECT_EQ(told[&p].last, p.gradient) << p.name;
    most = std::max(most, told[&p].times);
    if (objective->has_one_backward()) {
      EXPECT_EQ(told[&p].times, 1) << p.name;
    }
    ++n;
  }
  EXPECT_GT(n, 5u);
  EXPECT_EQ(most == 1, objective->has_one_backward());
}

INSTANTIATE_TEST_SUITE_P(
    , Accumulate,
    testing::Values(AccumulateCase{"rnn", {}}, AccumulateCase{"transformer", transformer()},
                    AccumulateCase{"tied", {"data.joint=true", "model.tied=all", "model.cell=lstm"}},
                    AccumulateCase{"scheduled_sampling",
                                   {"train.objective=scheduled_sampling", "train.sampling_steps=8"}},
                    AccumulateCase{"minimum_risk",
                                   {"train.objective=minimum_risk", "train.reward=chrf", "train.hypotheses=3",
                                    "train.hypotheses_by=nbest"}},
                    AccumulateCase{"hard_sampled", {"attention.normalise=hard_sampled"}}),
    [](const auto& info) { return std::string(info.param.name); });

// ------------------------------------------------------------------------------------------------- state of the model

/// The baseline moves once per update, by the rewards of all its batches, and only if the update is made.
TEST(AccumulateState, TheBaselineMovesOncePerUpdate) {
  const auto after = [](int64_t accumulate, bool broken) {
    Worker worker(small_recipe("unused", {"attention.normalise=hard_sampled", "train.batch_tokens=60",
                                          "train.accumulate=" + std::to_string(accumulate)}));
    Trainer trainer(worker.objective(), *worker.made.parameters, *worker.corpus.train, worker.recipe.train);
    const Parameter& state = worker.made.parameters->at("reinforce.baseline");
    if (broken) {
      worker.made.parameters->at("output.bias").value[4] = std::numeric_limits<float>::quiet_NaN();
      EXPECT_NE(trainer.step().skipped, "");
      EXPECT_EQ(state.value, (std::vector<float>{0.0f, 0.0f}));
      return 0.0;
    }
    const StepReport report = trainer.step();
    EXPECT_EQ(state.value[1], 1.0f);
    EXPECT_NEAR(state.value[0], -report.nll, 1e-5) << accumulate;  // the first rewards initialise it
    return double{state.value[0]};
  };
  EXPECT_NE(after(1, false), after(4, false));
  after(1, true);
  after(3, true);
}

/// Batches of an update that read running text do not wait for each other: each has its own streams.
TEST(AccumulateState, StreamsOfTextBelongToTheirBatch) {
  const TemporaryFolder folder;
  {
    std::ofstream text(folder / "story.txt");
    for (int line = 0; line < 300; ++line) text << "the " << line % 7 << " birds and the " << line % 11 << " cats\n";
  }
  const auto recipe = [&](int64_t accumulate) {
    Recipe made = recipe::parse(
        "", "text.toml",
        std::vector<std::string>{"model.task=language_model", "data.text=" + (folder / "story.txt").string(),
                                 "model.kind=rnn", "model.width=8", "model.context=16", "train.batch_tokens=32",
                                 "train.clip=0", "train.warmup=0", "output.folder=unused", "model.dropout=0",
                                 "train.accumulate=" + std::to_string(accumulate)});
    made.open.clear();
    return made;
  };
  Worker worker(recipe(2)), other(recipe(2));
  Trainer trainer(worker.objective(), *worker.made.parameters, *worker.corpus.train, worker.recipe.train);
  const auto& o = worker.recipe.train;
  const auto batches =
      worker.corpus.train->batches({.max_tokens = o.batch_tokens, .seed = o.seed, .side_by_side = 2}, 0);
  ASSERT_GE(batches.size(), 8u);
  // The losses of a trainer, and those of whoever computes the two batches of each update apart, with the states that
  // their own streams left, and the weights of the trainer.
  data::RecurrentCarry left[2];
  for (size_t update = 0; update < 4; ++update) {
    const std::vector<std::vector<float>> weights = [&] {
      std::vector<std::vector<float>> all;
      for (const Parameter& p : *worker.made.parameters) all.push_back(p.value);
      return all;
    }();
    size_t n = 0;
    for (Parameter& p : *other.made.parameters) p.value = weights[n++];
    double nll = 0.0;
    int64_t tokens = 0;
    for (size_t part = 0; part < 2; ++part) {
      data::Batch packed = other.corpus.train->pack(batches[2 * update + part]);
      packed.carried = &left[part];
      Tape tape({.recording = false, .training = false});
      model::Loss loss = other.made.model->loss(tape, packed, {});
      EXPECT_EQ(loss.carried.size(), 2u);
      nll += loss.negative_log_likelihood;
      tokens += loss.rows;
      if (update > 0) {
        packed.carried = nullptr;
        Tape cold({.recording = false, .training = false});
        EXPECT_NE(other.made.model->loss(cold, packed, {}).negative_log_likelihood, loss.negative_log_likelihood);
      }
      left[part] = std::move(loss.carried);
    }
    EXPECT_NEAR(trainer.step().nll, nll / static_cast<double>(tokens), 1e-6) << update;
  }
}

}  // namespace
}  // namespace heed::train::test
