#include "heed/train/session.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/attend/all.h"
#include "heed/file/disk.h"
#include "heed/task/all.h"
#include "heed/tensor/error.h"
#include "heed/tensor/memory.h"
#include "heed/train/evaluate.h"
#include "heed/train/speed.h"
#include "heed/train/trainer.h"
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

/// The reasons why there is no such model, each with the file and the keys that it follows from.
std::string model_complaint(const Recipe& recipe, std::string_view reasons) {
  constexpr std::string_view kAttention = "attention: ", kModel = "model: ";
  std::string place = recipe.file.empty() ? "" : recipe.file + ": ";
  if (reasons.starts_with(kAttention)) {
    reasons.remove_prefix(kAttention.size());
    place += "[attention] ";
  }
  std::string all;
  while (!reasons.empty()) {
    std::string_view reason = reasons.substr(0, reasons.find('\n'));
    reasons.remove_prefix(std::min(reason.size() + 1, reasons.size()));
    if (reason.starts_with(kModel)) reason.remove_prefix(kModel.size());
    all += (all.empty() ? "" : "\n") + place;
    // The widths of an attention follow from that of the model.
    if (reason.find("cannot be shared by") != std::string_view::npos)
      all += fmt::format("heads = {} with [model] width = {}: ", recipe.model.attention.heads, recipe.model.width);
    all += reason;
  }
  return all;
}

/// A model of the same kind, without memory for it: what is wrong with the options, and that it is too large, shows
/// before that is taken, and with hardly any vocabulary before the data is read. Its max_positions().
int64_t check_model(const Recipe& recipe, int64_t source_vocabulary, int64_t target_vocabulary) {
  Parameters parameters(0, Start::empty);
  model::Options options = recipe.model;
  options.source_vocabulary = source_vocabulary;
  options.target_vocabulary = target_vocabulary;
  std::unique_ptr<model::Model> made;
  try {
    made = recipe.task().make(parameters, options);
  } catch (const Error& error) {
    throw RecipeError(model_complaint(recipe, error.what()));
  }
  // The weight, its gradient and two moments of Adam; and the average.
  double numbers = 0;
  for (const Parameter& p : parameters) numbers += static_cast<double>(p.rows()) * static_cast<double>(p.cols());
  const double bytes = sizeof(float) * (recipe.train.average > 0 ? 5 : 4) * numbers;
  expect_memory(bytes, fmt::format("the training of {:.0f} parameters", numbers),
                "a smaller model.width, fewer layers or smaller vocabularies need less");
  return made->max_positions();
}

void check_model(const Recipe& recipe) {
  check_model(recipe, text::kSpecials + 1, text::kSpecials + 1);
  // An option that nothing reads is most often one of a part that was meant and not named.
  std::vector<std::string> names;
  attend::each_option(recipe.model.attention, [&](const char* name, const auto&) { names.emplace_back(name); });
  const std::vector<std::string> idle = attend::unread(recipe.model.attention, names);
  if (!idle.empty()) throw RecipeError(model_complaint(recipe, fmt::format("attention: {}", fmt::join(idle, "\n"))));
}

void check_lengths(const task::Corpus& corpus, int64_t max_positions) {
  for (const data::Dataset* examples : {corpus.train.get(), corpus.valid.get()})
    for (int64_t i = 0; i < examples->size(); ++i) {
      const int64_t longest = examples->longest_sequence(i);
      expect(longest <= max_positions, ErrorKind::data,
             "line {} of the data has {} tokens, and the model has places for {}: make model.max_length or "
             "attention.max_length larger, or leave such lines out by data.max_source and data.max_target",
             examples->line_number(i), longest, max_positions);
    }
}

class Session {
 public:
  Session(Recipe recipe, const SessionOptions& options)
      : recipe_(std::move(recipe)), options_(options), observers_(options.observers), folder_(recipe_.output.folder) {
    if (recipe_.output.folder.empty())
      throw RecipeError("there is no folder for the result: output.folder, or --output");
    check_model(recipe_);
    config_ = recipe::text_of(recipe_);  // what it cannot hold shows before hours went into the training
    try {
      lock_ = folder_.lock();
      folder_.clean();
    } catch (const Error& error) {
      throw SaveError(error.what());
    }
    const std::optional<file::Checkpoint> from = find_checkpoint();
    prepare(from);
    if (from) load(*from);
  }

  Finished run() {
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
    return finished;
  }

 private:
  // --------------------------------------------------------------------------------------------------------- before

  std::optional<file::Checkpoint> find_checkpoint() {
    if (!options_.resume) {
      if (!folder_.names().empty())
        throw SaveError(fmt::format(
            "'{}' holds the checkpoints of a training already: --resume goes on with it, --output takes another folder",
            folder_.folder().string()));
      return {};
    }
    file::RunFolder::Newest newest = folder_.newest();
    for (const file::Damage& damage : newest.damaged)
      warn(fmt::format("{}{}", damage.reason,
                       newest.checkpoint ? "; going on from " + newest.checkpoint->name() : std::string()));
    expect(newest.checkpoint || newest.damaged.empty(), ErrorKind::file, "'{}': no checkpoint can be used: {}",
           folder_.folder().string(), newest.damaged.empty() ? "" : newest.damaged.front().reason);
    return std::move(newest.checkpoint);
  }

  void prepare(const std::optional<file::Checkpoint>& from) {
    tell([](TrainingObserver& o) { o.preparing("reading the data"); });
    const std::unique_ptr<task::Texts> texts = recipe_.task().read(recipe_.data, recipe_.train.seed);
    tell([](TrainingObserver& o) { o.preparing("cutting it into tokens"); });
    task::Vocabularies vocabularies =
        from ? task::Vocabularies::load(*from, recipe_.data) : texts->learn_vocabularies();
    const int64_t max_positions = check_model(recipe_, vocabularies.source->size(), vocabularies.target->size());
    corpus_ = texts->encode(vocabularies);
    check_lengths(corpus_, max_positions);
    per_epoch_ = updates_per_epoch(*corpus_.train, recipe_.train);
    optimise::ScheduleOptions& schedule = recipe_.train.schedule;
    schedule.steps = recipe_.stop.steps;
    if (recipe_.stop.epochs > 0 && (schedule.steps == 0 || schedule.steps > recipe_.stop.epochs * per_epoch_))
      schedule.steps = recipe_.stop.epochs * per_epoch_;
    // Weights of a checkpoint get their memory when they are known to fit.
    made_ = trained::make_model(recipe_, std::move(vocabularies), from ? Start::empty : Start::drawn);
    trainer_.emplace(*made_.model, *made_.parameters, *corpus_.train, recipe_.train);
  }

  void load(const file::Checkpoint& checkpoint) {
    const Recipe before = trained::recipe_of(checkpoint);
    const std::string changed = recipe::difference(recipe_, before);
    expect(changed.empty(), ErrorKind::file, "the recipe is not that of '{}': {}", checkpoint.folder().string(),
           changed);
    const file::TrainingState state = checkpoint.state();
    expect(state.has("data"), ErrorKind::file,
           "'{}' is not of a training that could go on: its state.json has no 'data'; heed average makes such",
           checkpoint.folder().string());
    expect(state.text("data") == corpus_.fingerprint, ErrorKind::data,
           "the data is not that of '{}': it has changed, or the recipe takes another part of it",
           checkpoint.folder().string());
    trainer_->load(checkpoint);
    for (const Parameter& p : *made_.parameters) trained::expect_finite(p.value, checkpoint, p.name);
    const int64_t done = trainer_->steps();
    expect(file::RunFolder::name_of(done) == checkpoint.name(), ErrorKind::file,
           "'{}': the state is that of {}, of another checkpoint", checkpoint.folder().string(),
           file::RunFolder::name_of(done));
    seconds_before_ = state.real("seconds");
    expect(seconds_before_ >= 0 && seconds_before_ <= kMostSeconds, ErrorKind::file,
           "'{}': the state's 'seconds' cannot be {}", checkpoint.folder().string(), seconds_before_);
    waited_ = state.integer("waited", 0, done);
    validated_step_ = state.integer("validated", -1, done);
    saved_step_ = resumed_from_ = done;
    // The best one may be gone: then the next that is validated is the best.
    const int64_t best_step = state.integer("best_step", 0, done);
    const std::vector<std::string> names = folder_.names();
    const std::string best = file::RunFolder::name_of(best_step);
    if (std::find(names.begin(), names.end(), best) == names.end()) return;
    best_value_ = state.real("best_value");
    best_step_ = best_step;
    folder_.mark_best(best);
  }

  Started about() const {
    return {.folder = recipe_.output.folder,
            .model = recipe_.model.kind,
            .parameters = made_.parameters->count(),
            .examples = corpus_.train->size(),
            .valid_examples = corpus_.valid->size(),
            .source_tokens = made_.vocabularies.source->size(),
            .target_tokens = made_.vocabularies.target->size(),
            .updates_per_epoch = per_epoch_,
            .resumed_from = resumed_from_};
  }

  // --------------------------------------------------------------------------------------------------------- during

  void step() {
    const Clock::time_point begin = Clock::now();
    const StepReport report = [&] {
      const Profiling profiling(options_.profile);
      return trainer_->step();
    }();
    speed_.add(static_cast<double>(report.tokens), seconds_since(begin));
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
      search::TapePool tapes;  // given back with it: the updates need the memory
      v.evaluation = evaluate(recipe_.task(), made_.answering(tapes), corpus_,
                              {.batch_tokens = recipe_.train.batch_tokens,
                               .decode = recipe_.validate.decode,
                               .samples = recipe_.validate.samples,
                               .metric = recipe_.validate.metric == "loss" ? "" : recipe_.validate.metric});
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

  /// A full disk does not end a training: the next time there may be room.
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
    f.best_value = best_value_;
    f.best_step = best_step_;
    return f;
  }

  // -------------------------------------------------------------------------------------------------------- telling

  void warn(const std::string& text) {
    tell([&](TrainingObserver& o) { o.warned(text); });
  }

  /// A watcher that fails (a log on a full disk, a terminal that went away) is told nothing more; the others hear why.
  /// Whatever it throws: nobody who only looks on ends a training.
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

void check_model_of(const Recipe& recipe) { check_model(recipe); }

Finished run_session(const recipe::Recipe& recipe, const SessionOptions& options) {
  return Session(recipe, options).run();
}

recipe::Recipe recipe_of_folder(const std::filesystem::path& folder, std::span<const std::string> overrides) {
  const file::RunFolder run(folder);
  const file::RunFolder::Newest newest = run.newest();
  expect(newest.checkpoint.has_value(), ErrorKind::file, "'{}' holds no checkpoint that can be used{}", folder.string(),
         newest.damaged.empty() ? "" : ": " + newest.damaged.front().reason);
  return trained::recipe_of(*newest.checkpoint, overrides);
}

}  // namespace heed::train
