// What a training is made of: first values, learning rates, the optimiser, and whole models that learn for a few
// updates and then search.
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "heed/checkpoint/trained_model.h"
#include "heed/layer/parameters.h"
#include "heed/model/search/search.h"
#include "heed/task/seq2seq/texts.h"
#include "heed/train/optimise/adam.h"
#include "heed/train/optimise/clip.h"
#include "heed/train/optimise/schedule.h"
#include "heed/train/recipe/recipe.h"
#include "heed/train/trainer.h"
#include "tests/bits/bits.h"

namespace heed::bits {
namespace {

void initialise(Hashes& hashes, int) {
  const auto draw = [&](const char* name, const Initialiser& initialiser) {
    std::vector<float> values(96 * 37);
    initialiser.fill(values, 96, 37, 11);
    hashes.add(name, values);
  };
  draw("uniform", Initialiser::uniform(0.5f));
  draw("normal", Initialiser::normal(0.02f));
  draw("xavier_uniform", Initialiser::xavier());
  draw("orthogonal", Initialiser::orthogonal());
}

void schedule(Hashes& hashes, int) {
  for (const char* kind : {"constant", "inverse_sqrt", "cosine"}) {
    std::vector<float> rates;
    for (int64_t step = 1; step <= 3000; ++step)
      rates.push_back(
          optimise::learning_rate({.kind = kind, .peak = 3e-3f, .floor = 1e-5f, .warmup = 400, .steps = 2500}, step));
    hashes.add(kind, rates);
  }
}

void adam(Hashes& hashes, int) {
  for (const bool decoupled : {false, true}) {
    Parameters parameters(3);
    parameters.make("weight", {31, 17}, Initialiser::uniform(1.0f));
    parameters.make("bias", {31}, Initialiser::constant(0.25f));
    optimise::Adam optimiser(parameters, {.beta2 = 0.98f, .epsilon = 1e-9f, .decay = 0.01f, .decoupled = decoupled});
    Numbers numbers(29);
    std::vector<double> norms;
    for (int step = 0; step < 40; ++step) {
      for (Parameter& p : parameters) p.gradient = numbers.some(p.size(), 0.5f), p.has_gradient = true;
      norms.push_back(optimise::clip_gradients(parameters, 2.0));
      optimiser.step(0.01f);
    }
    const std::string name = decoupled ? "adamw_" : "adam_";
    hashes.add(name + "norm", norms);
    for (const Parameter& p : parameters) {
      const std::vector<float>& values = p.value;
      hashes.add(name + p.name, values);
    }
  }
}

constexpr const char* kRecipe = R"(
[data]
task = "reverse"
examples = 60
valid_examples = 5
[model]
width = 16
dropout = 0.2
[train]
batch_tokens = 128
learning_rate = 0.01
schedule = "cosine"
warmup = 2
average = 0.5
[stop]
steps = 6
[output]
folder = "unused"
)";

void learn(const std::vector<std::string>& overrides, Hashes& hashes) {
  const recipe::Recipe recipe = recipe::parse(kRecipe, "bits.toml", overrides);
  task::TextPairs pairs = task::load_pairs(recipe.data, 1);
  task::Vocabularies vocabularies = task::learn_vocabularies(pairs.train, recipe.data);
  const task::Corpus corpus = task::make_corpus(std::move(pairs), vocabularies, recipe.data);
  trained::TrainedModel made =
      trained::make_model(recipe::describe(recipe), std::move(vocabularies), recipe.train.seed);
  train::Trainer trainer(*made.model, *made.parameters, *corpus.train, recipe.train);
  const auto add_values = [&](const char* name) {
    std::vector<float> values;
    for (const Parameter& p : *made.parameters) values.insert(values.end(), p.value.begin(), p.value.end());
    hashes.add(name, values);
  };
  add_values("first_values");
  std::vector<double> losses, norms;
  for (int step = 0; step < 6; ++step) {
    const train::StepReport report = trainer.step();
    losses.push_back(report.loss);
    norms.push_back(report.norm);
  }
  hashes.add("loss", losses);
  hashes.add("norm", norms);
  add_values("values");

  std::vector<int64_t> all(static_cast<size_t>(corpus.valid->size()));
  std::iota(all.begin(), all.end(), int64_t{0});
  const data::Sources sources = corpus.valid->pack(all).sources;
  Tape tape({.recording = false, .training = false});
  const auto add_found = [&](const std::string& name, const std::vector<search::Result>& found) {
    std::vector<double> scores;
    std::vector<int32_t> tokens;
    for (const search::Result& result : found)
      for (const search::Hypothesis& h : result.hypotheses) {
        scores.push_back(h.score);
        tokens.insert(tokens.end(), h.tokens.begin(), h.tokens.end());
      }
    hashes.add(name + "_scores", scores);
    hashes.add(name + "_tokens", tokens);
  };
  if (const model::ParallelGenerator* parallel = made.model->parallel_generator()) {
    search::Options options = {.longest = 12};
    options.nbest = options.lengths = parallel->slots() > 0 ? 1 : 3;
    add_found("refine", search::search(*parallel, tape, {.sources = sources}, options));
    return;
  }
  for (const bool sample : {false, true}) {
    const search::Options options = {.longest = 12,
                                     .beam = sample ? 1 : 3,
                                     .nbest = sample ? 1 : 3,
                                     .alpha = 0.6,
                                     .sample = sample,
                                     .temperature = 0.7,
                                     .seed = 3};
    add_found(sample ? "sample" : "beam",
              search::search(*made.model->generator(), tape, {.sources = sources}, options));
  }
}

}  // namespace

void add_training_cases(std::vector<Case>& to) {
  to.push_back({"train/initialise", initialise});
  to.push_back({"train/schedule", schedule});
  to.push_back({"train/adam", adam});
  const auto whole = [&](const std::string& name, const std::vector<std::string>& overrides) {
    to.push_back({"train/" + name, [=](Hashes& hashes, int) { learn(overrides, hashes); }});
  };
  whole("gru_additive", {"attention.score=additive"});
  whole("accumulated", {"attention.score=additive", "train.accumulate=3"});
  whole("hard_sampled", {"attention.normalise=hard_sampled", "train.accumulate=2"});
  whole("lstm_general_guided", {"model.cell=lstm", "attention.score=general", "attention.time=guided"});
  whole("transformer", {"model.kind=transformer", "attention.score=scaled_dot", "attention.heads=2"});
  whole("parallel", {"model.kind=transformer", "model.decoder=parallel", "attention.heads=2", "model.max_length=32"});
  whole("parallel_slots", {"model.kind=transformer", "model.decoder=parallel", "model.length=slots", "model.slots=24"});
  whole("transformer_rotary", {"model.kind=transformer", "attention.heads=2", "model.positions=rotary",
                               "model.activation=swiglu", "model.norm=pre"});
  whole("transformer_alibi", {"model.kind=transformer", "attention.heads=2", "model.positions=alibi",
                              "model.activation=gelu", "train.schedule=inverse_sqrt"});
}

}  // namespace heed::bits
