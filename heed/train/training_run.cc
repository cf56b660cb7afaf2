#include "heed/train/training_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "heed/base/error.h"
#include "heed/checkpoint/run_folder.h"
#include "heed/checkpoint/save.h"
#include "heed/checkpoint/start_from.h"
#include "heed/train/evaluate.h"
#include "heed/train/objective/all.h"
#include "heed/train/recipe/of_model.h"
#include "heed/train/recipe/settle.h"

namespace heed::train {

namespace {

using recipe::Recipe;
using recipe::StopOptions;

constexpr double kMostSeconds = 1e12;  // longer than any training

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- before

TrainingRun::TrainingRun(const Recipe& recipe, const StartFrom& beginning,
                         const std::function<void(const std::string&)>& tell) {
  TrainingSetup prepared = prepare(recipe, beginning, tell);
  recipe_ = std::move(prepared.recipe);
  chosen_ = std::move(prepared.chosen);
  corpus_ = std::move(prepared.corpus);
  per_epoch_ = prepared.updates_per_epoch;
  recipe_.train.schedule.steps = recipe::updates_in_all(recipe_, per_epoch_);
  made_ = std::move(prepared.model);
  // Beside a checkpoint, whose name does not matter.
  made_.training.recipe = recipe::text_beside(recipe_, std::filesystem::path(recipe_.output.folder) / "step");
  // Weights of a checkpoint are allocated once they are known to fit.
  if (!beginning.checkpoint) made_.parameters->draw();
  const bool other_task = beginning.weights && beginning.weights->description.model.task != recipe_.model.task;
  if (other_task)
    corpus_.warnings.push_back(trained::start_from_encoder(*beginning.weights, made_).text(beginning.weights_name));
  if (beginning.weights && !other_task)
    if (const std::vector<std::string> lacking = trained::start_from(*beginning.weights, made_); !lacking.empty())
      corpus_.warnings.push_back(
          fmt::format("{} has no weights {}: they start anew", beginning.weights_name, fmt::join(lacking, ", ")));
  const bool fresh = !beginning.checkpoint && !beginning.weights;
  for (std::string& said : recipe_.task().start_training(*made_.parameters, made_.vocabularies, recipe_.data, fresh))
    corpus_.warnings.push_back(std::move(said));
  const objective::ObjectiveInputs setting{.model = *made_.model,
                                           .vocabularies = made_.vocabularies,
                                           .examples = *corpus_.train,
                                           .options = recipe_.train.objective,
                                           .label_smoothing = recipe_.train.label_smoothing,
                                           .batch_tokens = recipe_.train.batch_tokens,
                                           .updates = recipe_.train.schedule.steps,
                                           .longest = recipe_.validate.longest,
                                           .reward = beginning.reward};
  const objective::Entry& objective = objective::find(recipe_.train.objective.name);
  if (fresh && objective.needs_trained)
    corpus_.warnings.push_back(
        fmt::format("train.objective = \"{}\" learns from the outputs of the model, but it starts from random weights, "
                    "whose outputs are all wrong: train with train.objective = \"likelihood\" first, then start from "
                    "that model with --from",
                    objective.name));
  trainer_.emplace(objective.make(setting), *made_.parameters, *corpus_.train, recipe_.train);
}

void TrainingRun::load(const file::Checkpoint& checkpoint, std::span<const std::string> kept) {
  const Recipe before = recipe::of_checkpoint(checkpoint);
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
  const int64_t done = steps();
  expect(file::RunFolder::name_of(done) == checkpoint.name(), ErrorKind::file,
         "'{}': state.json belongs to another checkpoint, {}", checkpoint.folder().string(),
         file::RunFolder::name_of(done));
  seconds_before_ = state.real("seconds");
  expect(seconds_before_ >= 0 && seconds_before_ <= kMostSeconds, ErrorKind::file,
         "'{}': 'seconds' in state.json cannot be {}", checkpoint.folder().string(), seconds_before_);
  waited_ = state.integer("waited", 0, done);
  validated_step_ = state.integer("validated", -1, done);
  resumed_from_ = done;
  const int64_t best_step = state.integer("best_step", 0, done);
  if (std::find(kept.begin(), kept.end(), file::RunFolder::name_of(best_step)) == kept.end()) return;
  best_value_ = state.real("best_value");
  best_step_ = best_step;
}

Started TrainingRun::about() const {
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
          .labels = task.answers() == task::AnswerKind::label ? targets - text::kSpecials : 0};
}

// ------------------------------------------------------------------------------------------------------------- during

void TrainingRun::start_clock() {
  begin_ = Clock::now();
  begin_share_ = share();
}

StepReport TrainingRun::update(Profile* profile) {
  const Clock::time_point begin = Clock::now();
  StepReport report = [&] {
    const Profiling profiling(profile);
    return trainer_->step();
  }();
  report.seconds = seconds_since(begin);
  speed_.add(static_cast<double>(report.tokens), report.seconds);
  if (!report.skipped.empty()) ++skipped_;
  return report;
}

Validated TrainingRun::validate() {
  Validated v;
  v.step = steps();
  {
    const Trainer::Averaged averaged(*trainer_);
    search::TapePool tapes;  // freed after the validation: the updates need the memory
    v.evaluation = evaluate(recipe_.task(), made_.loaded(tapes), corpus_,
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
  return v;
}

void TrainingRun::save(file::CheckpointWriter& writer) const {
  file::TrainingState state;
  trained::each_text(made_, [&](const std::string& part, std::string text) { writer.add_text(part, std::move(text)); });
  trainer_->save(writer, state);
  state.set("data", corpus_.fingerprint);
  state.set("seconds", seconds());
  state.set("best_value", best_value_);
  state.set("best_step", best_step_);
  state.set("waited", waited_);
  state.set("validated", validated_step_);
  writer.add_state(state);
}

// -------------------------------------------------------------------------------------------------------- how far it
// is

RunFacts TrainingRun::facts() const {
  return {.step = steps(),
          .epoch = trainer_->epoch(),
          .first_step = resumed_from_,
          .seconds = seconds(),
          .waited = waited_,
          .validated_step = validated_step_};
}

double TrainingRun::seconds() const {
  return seconds_before_ + (begin_ == Clock::time_point() ? 0.0 : seconds_since(begin_));
}

double TrainingRun::share() const {
  const StopOptions& s = recipe_.stop;
  const auto step = static_cast<double>(steps());
  double most = 0;
  if (s.steps > 0) most = std::max(most, step / static_cast<double>(s.steps));
  if (s.epochs > 0) most = std::max(most, step / static_cast<double>(s.epochs * per_epoch_));
  if (s.minutes > 0) most = std::max(most, seconds() / (60 * s.minutes));
  return std::min(most, 1.0);
}

Progress TrainingRun::progress() const {
  Progress p{.seconds = seconds(), .tokens_per_second = speed_.rate(), .share = share()};
  const double done = p.share - begin_share_;
  if (done > 0) p.seconds_left = seconds_since(begin_) / done * (1.0 - p.share);
  return p;
}

Finished TrainingRun::result(Ending ending) const {
  Finished f{.ending = ending, .step = steps(), .seconds = seconds(), .skipped = skipped_};
  if (best_step_ == 0) return f;
  f.best = file::RunFolder::name_of(best_step_);
  f.metric = recipe_.validate.metric;
  f.best_value = best_value_;
  f.best_step = best_step_;
  return f;
}

}  // namespace heed::train
