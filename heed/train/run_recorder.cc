#include "heed/train/run_recorder.h"

#include <fmt/format.h>

#include <utility>

#include "heed/base/atomic.h"
#include "heed/base/error.h"
#include "heed/train/session.h"

namespace heed::train {

RunRecorder::RunRecorder(const recipe::OutputOptions& options, std::vector<TrainingObserver*> observers)
    : observers_(std::move(observers)), folder_(options.folder), keep_last_(options.keep_last) {}

// ------------------------------------------------------------------------------------------------------------- folder

void RunRecorder::lock() {
  try {
    lock_ = folder_.lock();
    folder_.clean();
  } catch (const Error& error) {
    throw SaveError(error.what());
  }
}

std::optional<file::Checkpoint> RunRecorder::find_checkpoint(bool resume) {
  if (!resume) {
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

void RunRecorder::write_recipe(const recipe::Recipe& recipe) {
  const std::filesystem::path file = folder_.folder() / "recipe.toml";
  try {
    file::write_file(file,
                     fmt::format("# What this model was trained with. To change something and train again:\n"
                                 "#   heed train {} --output ANOTHER_FOLDER\n"
                                 "# heed train {} --show prints every other key with its default.\n\n{}",
                                 file.string(), file.string(), recipe::short_text_beside(recipe, folder_.folder())));
  } catch (const Error& error) {
    warn(error.what());
  }
}

void RunRecorder::write(const file::CheckpointWriter& writer, int64_t step, bool is_best) {
  const std::string name = folder_.save(writer, step);
  saved_step_ = step;
  if (is_best) folder_.mark_best(name);
  folder_.keep(keep_last_);
  failed_saves_ = 0;
  tell([&](TrainingObserver& o) { o.saved(name, is_best); });
}

void RunRecorder::failed(int64_t step, const std::string& why) {
  ++failed_saves_;
  save_problem_ = why;
  const auto names = folder_.names();
  warn(fmt::format("update {}: {}; {}", step, why,
                   names.empty() ? "there is no checkpoint yet" : "the last good checkpoint is " + names.back()));
}

double RunRecorder::seconds_unsaved() const { return std::chrono::duration<double>(Clock::now() - last_try_).count(); }

// ---------------------------------------------------------------------------------------------------------- observers

void RunRecorder::started(const Started& about) {
  last_try_ = Clock::now();
  tell([&](TrainingObserver& o) { o.started(about); });
}

void RunRecorder::stepped(const StepReport& report, const Progress& progress) {
  failed_saves_ = 0;
  if (report.skipped.empty())
    tell([&](TrainingObserver& o) { o.stepped(report, progress); });
  else
    tell([&](TrainingObserver& o) { o.skipped(report); });
}

void RunRecorder::warn(const std::string& text) {
  tell([&](TrainingObserver& o) { o.warned(text); });
}

}  // namespace heed::train
