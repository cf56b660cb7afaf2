// What keeps a training run for others: the folder with its lock and checkpoints, and the observers. A run computes
// without it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/disk.h"
#include "heed/checkpoint/checkpoint.h"
#include "heed/checkpoint/run_folder.h"
#include "heed/train/observer.h"
#include "heed/train/recipe/recipe.h"

namespace heed::train {

class RunRecorder {
 public:
  RunRecorder(const recipe::OutputOptions& options, std::vector<TrainingObserver*> observers);

  // --------------------------------------------------------------------------------------------------------- folder
  /// Nobody else writes to the folder from now on. Throws SaveError.
  void lock();
  /// The newest checkpoint that can be used, if any, when a run is resumed. Throws if only damaged ones are there, or
  /// if a new run would mix its checkpoints with those of another one.
  std::optional<file::Checkpoint> find_checkpoint(bool resume);
  std::vector<std::string> checkpoints() const { return folder_.names(); }
  /// A checkpoint that was there before, for example the one that a run is resumed from.
  void found(int64_t step) { saved_step_ = step; }
  void mark_best(int64_t step) { folder_.mark_best(file::RunFolder::name_of(step)); }

  /// The recipe with the chosen keys, for people to read and to edit. Training does not need it: if it cannot be
  /// written, neither can the checkpoints, and that is reported.
  void write_recipe(const recipe::Recipe& recipe);

  /// Writes a checkpoint; fill(CheckpointWriter&) says what is in it. A full disk does not end the training: next time
  /// there may be room. So a failure is only told, and counted.
  template <class Fill>
  void save(int64_t step, bool is_best, const Fill& fill) {
    last_try_ = Clock::now();
    try {
      file::CheckpointWriter writer;
      fill(writer);
      write(writer, step, is_best);
    } catch (const Error& error) {
      failed(step, error.what());
    }
  }
  int64_t saved_step() const { return saved_step_; }  // the last one with a checkpoint; -1: none
  double seconds_unsaved() const;                     // since the last one was tried, or the run started
  int64_t failed_saves() const { return failed_saves_; }
  const std::string& save_problem() const { return save_problem_; }  // of the last one that failed

  // ------------------------------------------------------------------------------------------------------ observers
  void started(const Started& about);
  void stepped(const StepReport& report, const Progress& progress);
  void warn(const std::string& text);

  /// Calls call(observer) for each. One that throws (a log on a full disk, a closed terminal) is dropped, and the
  /// others are told why. An observer never ends the training.
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

 private:
  using Clock = std::chrono::steady_clock;
  void write(const file::CheckpointWriter& writer, int64_t step, bool is_best);
  void failed(int64_t step, const std::string& why);

  std::vector<TrainingObserver*> observers_;
  file::RunFolder folder_;
  int64_t keep_last_;
  file::Descriptor lock_;  // of the folder: two trainings would overwrite each other
  Clock::time_point last_try_ = Clock::now();
  int64_t saved_step_ = -1, failed_saves_ = 0;
  std::string save_problem_;
};

}  // namespace heed::train
