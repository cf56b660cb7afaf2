#include "heed/train/session.h"

#include <optional>
#include <string>
#include <utility>

#include "heed/base/error.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/train/decision.h"
#include "heed/train/recipe/of_model.h"
#include "heed/train/run_recorder.h"
#include "heed/train/training_run.h"
#include "heed/train/training_setup.h"

namespace heed::train {

namespace {

using recipe::Recipe;
using recipe::RecipeError;

/// A run that is recorded: what computes and what keeps it, and the order in which they do.
class Session {
 public:
  Session(Recipe recipe, const SessionOptions& options)
      : options_(options), recorder_(recipe.output, options.observers) {
    if (recipe.output.folder.empty()) throw RecipeError("there is no output folder: set output.folder, or --output");
    // A model that cannot be loaded is noticed before a folder is made. A resumed training no longer needs it.
    std::optional<trained::TrainedModel> weights;
    if (!options_.resume) {
      weights = load_weights();
      if (weights) recipe = fitted(recipe, *weights, options_.from);
      check_model_on_data(recipe);
    }
    const bool checked = !options_.resume;
    recipe::text_of(recipe);  // throws now, not after hours of training, if it cannot be written as TOML
    recorder_.lock();
    const std::optional<file::Checkpoint> from = recorder_.find_checkpoint(options_.resume);
    if (options_.resume && !from) weights = load_weights();
    run_.emplace(recipe,
                 StartFrom{.checkpoint = from ? &*from : nullptr,
                           .weights = weights ? &*weights : nullptr,
                           .weights_name = options_.from,
                           .timed = true,
                           .reward = options_.reward,
                           .checked = checked},
                 [this](const std::string& what) { recorder_.tell([&](TrainingObserver& o) { o.preparing(what); }); });
    if (from)
      resume(*from);
    else
      recorder_.write_recipe(run_->recipe());
  }

  Finished run() {
    for (const std::string& note : run_->recipe().notes) recorder_.tell([&](TrainingObserver& o) { o.saw(note); });
    if (!options_.seen.empty() && run_->about().resumed_from == 0)
      recorder_.tell([&](TrainingObserver& o) { o.saw(options_.seen); });
    if (!run_->chosen().empty()) recorder_.tell([&](TrainingObserver& o) { o.chose(run_->chosen()); });
    recorder_.started(run_->about());
    for (const std::string& warning : run_->warnings()) recorder_.warn(warning);
    run_->start_clock();
    const Ending ending = run_to_the_end();
    if (recorder_.saved_step() != run_->steps()) throw SaveError(recorder_.save_problem());
    Finished finished = run_->result(ending);
    recorder_.tell([&](TrainingObserver& o) { o.finished(finished); });
    if (options_.corpus) *options_.corpus = std::move(run_->corpus());
    return finished;
  }

 private:
  std::optional<trained::TrainedModel> load_weights() {
    if (options_.from.empty()) return {};
    recorder_.tell([](TrainingObserver& o) { o.preparing("loading the weights to start from"); });
    return trained::load_model(options_.from);
  }

  void resume(const file::Checkpoint& checkpoint) {
    run_->load(checkpoint, recorder_.checkpoints());
    recorder_.found(run_->steps());
    if (run_->best_step() > 0) recorder_.mark_best(run_->best_step());
  }

  Ending run_to_the_end() {
    const Recipe& recipe = run_->recipe();
    const RunLimits limits{.stop = recipe.stop,
                           .validate_every = recipe.validate.every,
                           .checkpoint_minutes = recipe.output.checkpoint_minutes};
    std::optional<Ending> ending;
    for (;;) {
      RunFacts facts = run_->facts();
      facts.seconds_unsaved = recorder_.seconds_unsaved();
      facts.saved_step = recorder_.saved_step();
      facts.failed_saves = recorder_.failed_saves();
      facts.stop_asked = options_.stop && options_.stop->load();
      facts.ending = ending;
      const Decision next = decide(limits, facts);
      ending = next.ending;
      if (next.validate)
        validate();
      else if (next.save)
        save(false);
      else if (ending)
        return *ending;
      else
        update();
    }
  }

  void update() {
    const StepReport report = run_->update(options_.profile);
    recorder_.stepped(report, run_->progress());
  }

  void validate() {
    recorder_.tell([&](TrainingObserver& o) { o.validating(run_->steps()); });
    const Validated v = run_->validate();
    recorder_.tell([&](TrainingObserver& o) { o.validated(v, run_->progress()); });
    save(v.is_best);
  }

  void save(bool is_best) {
    recorder_.save(run_->steps(), is_best, [&](file::CheckpointWriter& writer) { run_->save(writer); });
  }

  SessionOptions options_;
  RunRecorder recorder_;
  std::optional<TrainingRun> run_;
};

}  // namespace

Finished run_session(const recipe::Recipe& recipe, const SessionOptions& options) {
  return Session(recipe, options).run();
}

std::optional<recipe::Precedent> precedent_of(const SessionOptions& options, const std::filesystem::path& folder) {
  std::error_code ignored;
  if (options.resume && !folder.empty() && std::filesystem::is_directory(folder, ignored))
    if (const file::RunFolder::Newest newest = file::RunFolder(folder).newest(); newest.checkpoint)
      return recipe::Precedent{.recipe = recipe::of_checkpoint(*newest.checkpoint), .resumed = true};
  if (options.from.empty()) return {};
  recipe::Precedent precedent;
  trained::with_checkpoint(options.from, "best", [&](const file::Checkpoint& checkpoint) {
    precedent.recipe = recipe::of_model(trained::description_of(checkpoint), trained::training_of(checkpoint));
  });
  return precedent;
}

recipe::Recipe recipe_of_folder(const std::filesystem::path& folder, std::span<const std::string> overrides) {
  const file::RunFolder run(folder);
  const file::RunFolder::Newest newest = run.newest();
  expect(newest.checkpoint.has_value(), ErrorKind::file, "'{}' holds no checkpoint that can be used{}", folder.string(),
         newest.damaged.empty() ? "" : ": " + newest.damaged.front().reason);
  return recipe::of_checkpoint(*newest.checkpoint, overrides);
}

}  // namespace heed::train
