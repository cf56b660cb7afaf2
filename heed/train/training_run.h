// The half of a training run that computes: data, model and updates. It has no folder, tells nobody, and decides
// nothing about its end (decision.h), so that any number of them could run beside one that is recorded
// (run_recorder.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/checkpoint/trained_model.h"
#include "heed/tensor/profile.h"
#include "heed/train/decision.h"
#include "heed/train/observer.h"
#include "heed/train/speed.h"
#include "heed/train/trainer.h"
#include "heed/train/training_setup.h"

namespace heed::train {

class TrainingRun {
 public:
  /// Reads the data and makes the model. `beginning.checkpoint` gives the vocabularies and the chosen keys; its weights
  /// and its place in the run come with load(). `tell`: as in prepare().
  TrainingRun(const recipe::Recipe& recipe, const StartFrom& beginning,
              const std::function<void(const std::string&)>& tell);

  const recipe::Recipe& recipe() const { return recipe_; }                       // with every key set
  const std::vector<task::Suggestion>& chosen() const { return chosen_; }        // keys that were open
  const std::vector<std::string>& warnings() const { return corpus_.warnings; }  // about the data and the recipe
  task::Corpus& corpus() { return corpus_; }

  /// Goes on from a checkpoint of the same recipe and data. `kept`: the names of those that are there: the best one may
  /// be gone, and then the next validated one is the best.
  void load(const file::Checkpoint& checkpoint, std::span<const std::string> kept);
  void save(file::CheckpointWriter& writer) const;

  /// From now on the time counts.
  void start_clock();
  StepReport update(Profile* profile);
  Validated validate();

  int64_t steps() const { return trainer_->steps(); }
  int64_t best_step() const { return best_step_; }  // 0: none
  /// What the run knows of them: not what was saved, or what a user asks for.
  RunFacts facts() const;
  Started about() const;
  Progress progress() const;
  Finished result(Ending ending) const;

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const;
  double share() const;

  recipe::Recipe recipe_;
  std::vector<task::Suggestion> chosen_;
  task::Corpus corpus_;
  trained::TrainedModel made_;
  std::optional<Trainer> trainer_;
  Speed speed_;
  Clock::time_point begin_;
  double begin_share_ = 0, seconds_before_ = 0;
  double best_value_ = std::numeric_limits<double>::infinity();
  int64_t best_step_ = 0, waited_ = 0, validated_step_ = -1;
  int64_t per_epoch_ = 0, resumed_from_ = 0, skipped_ = 0;
};

}  // namespace heed::train
