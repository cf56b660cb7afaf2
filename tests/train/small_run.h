// A training that takes a second, and an observer that remembers everything.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/task/text_pairs.h"
#include "heed/train/recipe/recipe.h"
#include "heed/train/session.h"
#include "tests/base/temporary.h"

namespace heed::train::test {

using heed::test::TemporaryFolder;
using recipe::Recipe;
using recipe::RecipeError;
using trained::TrainedModel;
namespace fs = std::filesystem;

inline constexpr const char* kSmall = R"(
[data]
task = "reverse"
examples = 120
valid_examples = 20
[model]
width = 8
dropout = 0.2
[attention]
score = "additive"
[train]
batch_tokens = 128
learning_rate = 0.01
schedule = "cosine"
warmup = 3
[stop]
steps = 24
[validate]
every = 6
decode = 5
longest = 25
[output]
keep_last = 2
)";

inline Recipe small_recipe(const fs::path& folder, std::vector<std::string> overrides = {}) {
  overrides.push_back("output.folder=" + folder.string());
  Recipe recipe = recipe::parse(kSmall, "small.toml", overrides);
  recipe.open.clear();  // the defaults are meant
  return recipe;
}

inline std::vector<std::string> transformer() {
  return {"model.kind=transformer", "attention.score=scaled_dot", "attention.heads=2"};
}

class Recorder final : public TrainingObserver {
 public:
  void chose(const std::vector<task::Suggestion>& chosen) override { choices = chosen; }
  void started(const Started& s) override { starts.push_back(s); }
  void warned(const std::string& text) override { warnings.push_back(text); }
  void stepped(const StepReport& r, const Progress& p) override {
    steps.push_back(r);
    progress.push_back(p);
    if (after_step) after_step(r.step);
  }
  void skipped(const StepReport& r) override { skips.push_back(r); }
  void validated(const Validated& v, const Progress&) override { validations.push_back(v); }
  void saved(const std::string& name, bool is_best) override {
    saves.push_back(name);
    if (is_best) best = name;
  }
  void finished(const Finished& f) override { ends.push_back(f); }

  std::vector<double> losses() const {
    std::vector<double> all;
    for (const StepReport& r : steps) all.push_back(r.loss);
    return all;
  }

  std::function<void(int64_t)> after_step;
  std::vector<task::Suggestion> choices;
  std::vector<Started> starts;
  std::vector<StepReport> steps;
  std::vector<Progress> progress;
  std::vector<StepReport> skips;
  std::vector<Validated> validations;
  std::vector<std::string> warnings, saves;
  std::vector<Finished> ends;
  std::string best;
};

/// Runs to the end.
inline Finished run(const Recipe& recipe, Recorder& recorder, bool resume = false) {
  return run_session(recipe, {.resume = resume, .observers = {&recorder}});
}

/// Runs until update `last` is done, then stops as Ctrl-C does.
inline Finished run_until(const Recipe& recipe, Recorder& recorder, int64_t last, bool resume = false) {
  std::atomic<bool> stop = false;
  recorder.after_step = [&](int64_t step) { stop = step >= last; };
  Finished finished = run_session(recipe, {.resume = resume, .stop = &stop, .observers = {&recorder}});
  recorder.after_step = nullptr;
  return finished;
}

/// What `action` complains about.
template <class E = Error, class Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

inline void expect_in(const std::string& part, const std::string& text) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

}  // namespace heed::train::test
