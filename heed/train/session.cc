#include "heed/train/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/file/atomic.h"
#include "heed/objective/all.h"
#include "heed/recipe/settle.h"
#include "heed/tensor/error.h"
#include "heed/train/evaluate.h"
#include "heed/train/preparation.h"
#include "heed/train/speed.h"
#include "heed/train/trainer.h"
#include "heed/trained/start_from.h"
#include "heed/trained/trained_model.h"

namespace heed::train {

namespace {

using recipe::Recipe;
using recipe::RecipeError;
using recipe::StopOptions;
using Clock = std::chrono::steady_clock;

constexpr double kMostSeconds = 1e12;                                 // longer than any training
constexpr double kNothing = std::numeric_limits<double>::infinity();  // worse than any value

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

class Session {
 public:
  Session(Recipe recipe, const SessionOptions& options)
      : recipe_(std::move(recipe)), options_(options), observers_(options.observers), folder_(recipe_.output.folder) {
    if (recipe_.output.folder.empty()) throw RecipeError("there is no output folder: set output.folder, or --output");
    // A model that cannot be loaded is noticed before a folder is made. A resumed training no longer needs it.
    std::optional<trained::TrainedModel> weights;
    if (!options_.resume) {
      weights = load_weights();
      if (weights) recipe_ = fitted(recipe_, *weights, options_.from);
      check_model(recipe_);
    }
    recipe::text_of(recipe_);  // throws now, not after hours of training, if it cannot be written as TOML
    try {
      lock_ = folder_.lock();
      folder_.clean();
    } catch (const Error& error) {
      throw SaveError(error.what());
    }
    const std::optional<file::Checkpoint> from = find_checkpoint();
    if (options_.resume && !from) weights = load_weights();
    prepare(from, weights);
    if (from) load(*from);
  }

  Finished run() {
    if (!options_.seen.empty() && resumed_from_ == 0) tell([&](TrainingObserver& o) { o.saw(options_.seen); });
    if (!chosen_.empty()) tell([&](TrainingObserver& o) { o.chose(chosen_); });
    tell([&](TrainingObserver& o) { o.started(about()); });
    for (const std::string& warning : corpus_.warnings) warn(warning);
    begin_ = Clock::now();
    begin_share_ = share();
    last_save_ = begin_;
    std::optional<Ending> ending = reached();
    while (!ending) {
      step();
      if (trainer_->steps() % recipe_.validate.every == 0)
        validate();
      else if (recipe_.output.checkpoint_minutes > 0 &&
               seconds_since(last_save_) >= 60 * recipe_.output.checkpoint_minutes)
        save(false);
      ending = reached();
    }
    if (*ending != Ending::stopped && validated_step_ != trainer_->steps()) validate();
    if (saved_step_ != trainer_->steps()) save(false);
    if (saved_step_ != trainer_->steps()) throw SaveError(save_problem_);
    Finished finished = result(*ending);
    tell([&](TrainingObserver& o) { o.finished(finished); });
    if (options_.corpus) *options_.corpus = std::move(corpus_);
    return finished;
  }

 private:
  // --------------------------------------------------------------------------------------------------------- before

  std::optional<file::Checkpoint> find_checkpoint() {
    if (!options_.resume) {
      if (!folder_.names().empty())
        throw SaveError(
            fmt::format("'{}' already holds the checkpoints of a training run: --resume continues it, --output names "
                        "another folder",
                        folder_.folder().string()));
      return {};
    }
    file::RunFolder::Newest newest = folder_.newest();
    for (const file::Damage& damage : newest.damaged)
      warn(fmt::format("{}{}", damage.reason,
                       newest.checkpoint ? "; resuming from " + newest.checkpoint->name() : std::string()));
    expect(newest.checkpoint || newest.damaged.empty(), ErrorKind::file, "'{}': no checkpoint can be used: {}",
           folder_.folder().string(), newest.damaged.empty() ? "" : newest.damaged.front().reason);
    return std::move(newest.checkpoint);
  }

  std::optional<trained::TrainedModel> load_weights() {
    if (options_.from.empty()) return {};
    tell([](TrainingObserver& o) { o.preparing("loading the weights to start from"); });
    return trained::load_model(options_.from);
  }

  void prepare(const std::optional<file::Checkpoint>& from, const std::optional<trained::TrainedModel>& weights) {
    Prepared prepared =
        train::prepare(recipe_,
                       {.checkpoint = from ? &*from : nullptr,
                        .weights = weights ? &*weights : nullptr,
                        .weights_name = options_.from,
                        .timed = true,
                        .reward = options_.reward},
                       [&](const std::string& what) { tell([&](TrainingObserver& o) { o.preparing(what); }); });
    recipe_ = std::move(prepared.recipe);
    chosen_ = std::move(prepared.chosen);
    corpus_ = std::move(prepared.corpus);
    per_epoch_ = prepared.updates_per_epoch;
    config_ = recipe::text_beside(recipe_, folder_.folder() / "step");  // of a checkpoint, whose name does not matter
    recipe_.train.schedule.steps = recipe::updates_in_all(recipe_, per_epoch_);
    // Weights of a checkpoint are allocated once they are known to fit.
    made_ = trained::make_model(recipe_, std::move(prepared.vocabularies), from ? Start::empty : Start::drawn);
    if (weights)
      if (const std::vector<std::string> lacking = trained::start_from(*weights, made_); !lacking.empty())
        corpus_.warnings.push_back(
            fmt::format("{} has no weights {}: they start anew", options_.from, fmt::join(lacking, ", ")));
    const bool fresh = !from && !weights;
    for (std::string& said : recipe_.task().start_training(*made_.parameters, made_.vocabularies, recipe_.data, fresh))
      corpus_.warnings.push_back(std::move(said));
    const objective::Setting setting{.model = *made_.model,
                                     .vocabularies = made_.vocabularies,
                                     .examples = *corpus_.train,
                                     .options = recipe_.train.objective,
                                     .label_smoothing = recipe_.train.label_smoothing,
                                     .batch_tokens = recipe_.train.batch_tokens,
                                     .updates = recipe_.train.schedule.steps,
                                     .longest = recipe_.validate.longest,
                                     .reward = options_.reward};
    const objective::Entry& objective = objective::find(recipe_.train.objective.name);
    if (fresh && objective.needs_trained)
      corpus_.warnings.push_back(fmt::format(
          "train.objective = \"{}\" learns from the outputs of the model, but it starts from random weights, "
          "whose outputs are all wrong: train with train.objective = \"likelihood\" first, then start from "
          "that model with --from",
          objective.name));
    trainer_.emplace(objective.make(setting), *made_.parameters, *corpus_.train, recipe_.train);
    if (!from) write_recipe();
  }

  /// The recipe with the chosen keys, for people to read and to edit. Training does not need it: if it cannot be
  /// written, neither can the checkpoints, and that is reported.
  void write_recipe() {
    const std::filesystem::path file = folder_.folder() / "recipe.toml";
    try {
      file::write_file(file,
                       fmt::format("# What this model was trained with. To change something and train again:\n"
                                   "#   heed train {} --output ANOTHER_FOLDER\n"
                                   "# heed train {} --show prints every other key with its default.\n\n{}",
                                   file.string(), file.string(), recipe::short_text_beside(recipe_, folder_.folder())));
    } catch (const Error& error) {
      warn(error.what());
    }
  }

  void load(const file::Checkpoint& checkpoint) {
    const Recipe before = trained::recipe_of(checkpoint);
    const std::string changed = recipe::difference(recipe_, before);
    expect(changed.empty(), ErrorKind::file, "the recipe differs from that of '{}': {}", checkpoint.folder().string(),
           changed);
    const file::TrainingState state = checkpoint.state();
    expect(state.has("data"), ErrorKind::file,
           "training cannot be resumed from '{}': its state.json has no 'data'. It may come from heed average",
           checkpoint.folder().string());
    expect(state.text("data") == corpus_.fingerprint, ErrorKind::data,
           "the data differs from that of '{}': it has changed, or the recipe uses another part of it",
           checkpoint.folder().string());
    trainer_->load(checkpoint);
    for (const Parameter& p : *made_.parameters) trained::expect_finite(p.value, checkpoint, p.name);
    const int64_t done = trainer_->steps();
    expect(file::RunFolder::name_of(done) == checkpoint.name(), ErrorKind::file,
           "'{}': state.json belongs to another checkpoint, {}", checkpoint.folder().string(),
           file::RunFolder::name_of(done));
    seconds_before_ = state.real("seconds");
    expect(seconds_before_ >= 0 && seconds_before_ <= kMostSeconds, ErrorKind::file,
           "'{}': 'seconds' in state.json cannot be {}", checkpoint.folder().string(), seconds_before_);
    waited_ = state.integer("waited", 0, done);
    validated_step_ = state.integer("validated", -1, done);
    saved_step_ = resumed_from_ = done;
    // The best checkpoint may be gone: then the next validated one is the best.
    const int64_t best_step = state.integer("best_step", 0, done);
    const std::vector<std::string> names = folder_.names();
    const std::string best = file::RunFolder::name_of(best_step);
    if (std::find(names.begin(), names.end(), best) == names.end()) return;
    best_value_ = state.real("best_value");
    best_step_ = best_step;
    folder_.mark_best(best);
  }

  Started about() const {
    const task::Task& task = recipe_.task();
    const int64_t targets = made_.vocabularies.target->size();
    const std::string &encoder = recipe_.model.encoder_kind(), &decoder = recipe_.model.decoder_kind();
    return {.folder = recipe_.output.folder,
            .model = encoder == decoder ? encoder : encoder + "-" + decoder,
            .parameters = made_.parameters->count(),
            .examples = corpus_.train->size(),
            .valid_examples = corpus_.valid->size(),
            .source_tokens = made_.vocabularies.source->size(),
            .target_tokens = targets,
            .updates_per_epoch = per_epoch_,
            .resumed_from = resumed_from_,
            .example = task.example_word(),
            .prediction = task.prediction_word(),
            .labels = task.gives_labels() ? targets - text::kSpecials : 0};
  }

  // --------------------------------------------------------------------------------------------------------- during

  void step() {
    const Clock::time_point begin = Clock::now();
    StepReport report = [&] {
      const Profiling profiling(options_.profile);
      return trainer_->step();
    }();
    report.seconds = seconds_since(begin);
    speed_.add(static_cast<double>(report.tokens), report.seconds);
    if (report.skipped.empty()) {
      tell([&](TrainingObserver& o) { o.stepped(report, progress()); });
    } else {
      ++skipped_;
      tell([&](TrainingObserver& o) { o.skipped(report); });
    }
  }

  void validate() {
    tell([&](TrainingObserver& o) { o.validating(trainer_->steps()); });
    Validated v;
    v.step = trainer_->steps();
    {
      const Trainer::Averaged averaged(*trainer_);
      search::TapePool tapes;  // freed after the validation: the updates need the memory
      v.evaluation = evaluate(recipe_.task(), made_.answering(tapes), corpus_,
                              {.batch_tokens = recipe_.train.batch_tokens,
                               .decode = recipe_.validate.decode,
                               .samples = recipe_.validate.samples,
                               .metric = recipe_.validate.metric == "loss" ? "" : recipe_.validate.metric,
                               .labels_between = recipe_.data.labels_between});
    }
    const std::optional<metric::Score>& task = v.evaluation.task;
    v.value = task ? task->value : v.evaluation.nll;
    const bool better = task && task->higher_is_better ? v.value > best_value_ : v.value < best_value_;
    v.is_best = std::isfinite(v.value) && (best_step_ == 0 || better);
    waited_ = v.is_best ? 0 : waited_ + 1;
    v.waited = waited_;
    if (v.is_best) {
      best_value_ = v.value;
      best_step_ = v.step;
    }
    validated_step_ = v.step;
    tell([&](TrainingObserver& o) { o.validated(v, progress()); });
    save(v.is_best);
  }

  /// A full disk does not end the training: next time there may be room.
  void save(bool is_best) {
    last_save_ = Clock::now();
    try {
      file::CheckpointWriter writer;
      file::TrainingState state;
      writer.add_text("config.toml", config_);
      trainer_->save(writer, state);
      state.set("data", corpus_.fingerprint);
      state.set("seconds", seconds());
      state.set("best_value", best_value_);
      state.set("best_step", best_step_);
      state.set("waited", waited_);
      state.set("validated", validated_step_);
      writer.add_state(state);
      made_.vocabularies.save(writer);
      const std::string name = folder_.save(writer, trainer_->steps());
      saved_step_ = trainer_->steps();
      if (is_best) folder_.mark_best(name);
      folder_.keep(recipe_.output.keep_last);
      tell([&](TrainingObserver& o) { o.saved(name, is_best); });
    } catch (const Error& error) {
      save_problem_ = error.what();
      const auto names = folder_.names();
      warn(fmt::format("update {}: {}; {}", trainer_->steps(), error.what(),
                       names.empty() ? "there is no checkpoint yet" : "the last good checkpoint is " + names.back()));
    }
  }

  /// Which limit was reached, if any.
  std::optional<Ending> reached() const {
    const StopOptions& s = recipe_.stop;
    if (options_.stop && options_.stop->load()) return Ending::stopped;
    if (s.steps > 0 && trainer_->steps() >= s.steps) return Ending::steps;
    if (s.epochs > 0 && trainer_->epoch() >= s.epochs) return Ending::epochs;
    if (s.minutes > 0 && seconds() >= 60 * s.minutes) return Ending::minutes;
    if (s.patience > 0 && waited_ >= s.patience) return Ending::patience;
    return {};
  }

  double seconds() const { return seconds_before_ + (begin_ == Clock::time_point() ? 0.0 : seconds_since(begin_)); }

  double share() const {
    const StopOptions& s = recipe_.stop;
    const auto step = static_cast<double>(trainer_->steps());
    double most = 0;
    if (s.steps > 0) most = std::max(most, step / static_cast<double>(s.steps));
    if (s.epochs > 0) most = std::max(most, step / static_cast<double>(s.epochs * per_epoch_));
    if (s.minutes > 0) most = std::max(most, seconds() / (60 * s.minutes));
    return std::min(most, 1.0);
  }

  Progress progress() const {
    Progress p{.seconds = seconds(), .tokens_per_second = speed_.rate(), .share = share()};
    const double done = p.share - begin_share_;
    if (done > 0) p.seconds_left = seconds_since(begin_) / done * (1.0 - p.share);
    return p;
  }

  Finished result(Ending ending) const {
    Finished f{.ending = ending, .step = trainer_->steps(), .seconds = seconds(), .skipped = skipped_};
    if (best_step_ == 0) return f;
    f.best = file::RunFolder::name_of(best_step_);
    f.metric = recipe_.validate.metric;
    f.best_value = best_value_;
    f.best_step = best_step_;
    return f;
  }

  // -------------------------------------------------------------------------------------------------------- telling

  void warn(const std::string& text) {
    tell([&](TrainingObserver& o) { o.warned(text); });
  }

  /// An observer that throws (a log on a full disk, a closed terminal) is dropped, and the others are told why. An
  /// observer never ends the training.
  template <class Call>
  void tell(const Call& call) {
    for (size_t i = 0; i < observers_.size();) {
      try {
        call(*observers_[i]);
        ++i;
      } catch (const std::exception& error) {
        observers_.erase(observers_.begin() + static_cast<int64_t>(i));
        warn(error.what());
      }
    }
  }

  Recipe recipe_;
  SessionOptions options_;
  std::vector<TrainingObserver*> observers_;
  file::RunFolder folder_;
  file::Descriptor lock_;  // of the folder: two trainings would overwrite each other
  std::string config_;     // config.toml of the checkpoints
  std::vector<task::Suggestion> chosen_;
  task::Corpus corpus_;
  trained::TrainedModel made_;
  std::optional<Trainer> trainer_;
  Speed speed_;
  Clock::time_point begin_, last_save_;
  double begin_share_ = 0, seconds_before_ = 0;
  double best_value_ = kNothing;
  int64_t best_step_ = 0, waited_ = 0;
  int64_t per_epoch_ = 0, resumed_from_ = 0, skipped_ = 0;
  int64_t validated_step_ = -1, saved_step_ = -1;
  std::string save_problem_;
};

}  // namespace

Finished run_session(const recipe::Recipe& recipe, const SessionOptions& options) {
  return Session(recipe, options).run();
}

std::optional<recipe::Precedent> precedent_of(const SessionOptions& options, const std::filesystem::path& folder) {
  std::error_code ignored;
  if (options.resume && !folder.empty() && std::filesystem::is_directory(folder, ignored))
    if (const file::RunFolder::Newest newest = file::RunFolder(folder).newest(); newest.checkpoint)
      return recipe::Precedent{.recipe = trained::recipe_of(*newest.checkpoint), .resumed = true};
  if (options.from.empty()) return {};
  recipe::Precedent precedent;
  trained::with_checkpoint(options.from, "best", [&](const file::Checkpoint& checkpoint) {
    precedent.recipe = trained::recipe_of(checkpoint);
  });
  return precedent;
}

recipe::Recipe recipe_of_folder(const std::filesystem::path& folder, std::span<const std::string> overrides) {
  const file::RunFolder run(folder);
  const file::RunFolder::Newest newest = run.newest();
  expect(newest.checkpoint.has_value(), ErrorKind::file, "'{}' holds no checkpoint that can be used{}", folder.string(),
         newest.damaged.empty() ? "" : ": " + newest.damaged.front().reason);
  return trained::recipe_of(*newest.checkpoint, overrides);
}

}  // namespace heed::train
