// Updates, one after the other. An update depends only on the state, the options, the data and its number, so that a
// stopped run resumes as if nothing had happened, bit for bit. Its batches do not depend on each other: each starts
// from the state before the update, and their gradients are added in an order of their own
// (train/optimise/gradient_sum.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/checkpoint/checkpoint.h"
#include "heed/data/dataset.h"
#include "heed/layer/parameters.h"
#include "heed/model/model.h"
#include "heed/tensor/tape.h"
#include "heed/train/optimise/adam.h"
#include "heed/train/optimise/moving_average.h"
#include "heed/train/recipe/options.h"
#include "heed/train/step_report.h"

namespace heed::objective {
class Objective;  // objective.h
}
namespace heed::optimise {
class GradientSum;  // gradient_sum.h
}

namespace heed::train {

using recipe::TrainerOptions;

/// Of the first epoch; others may have one more or less.
int64_t updates_per_epoch(const data::Dataset& examples, const TrainerOptions& options);

class Trainer {
 public:
  static constexpr int64_t kMostSkipped = 10;  // updates skipped in a row before training gives up
  static constexpr int64_t kMostSteps =
      1'000'000'000'000;  // longer than any run: a larger number in a state is an error

  /// All must outlive it.
  Trainer(std::unique_ptr<objective::Objective> objective, Parameters& parameters, const data::Dataset& examples,
          const TrainerOptions& options);
  /// Minimises the negative log-likelihood of the examples.
  Trainer(const model::Model& model, Parameters& parameters, const data::Dataset& examples,
          const TrainerOptions& options);
  ~Trainer();

  /// One update. Throws Error after kMostSkipped in a row whose loss or gradients were not finite.
  StepReport step();

  int64_t steps() const { return step_; }
  int64_t epoch() const { return epoch_; }  // finished ones
  const Tape& tape() const { return tape_; }

  /// While one of these lives, the parameters hold the moving average, if there is one: to evaluate it.
  class Averaged {
   public:
    explicit Averaged(Trainer& trainer);
    ~Averaged();
    Averaged(const Averaged&) = delete;
    Averaged& operator=(const Averaged&) = delete;

   private:
    optimise::MovingAverage* average_;
  };

  /// Everything that step() depends on, apart from the options and the data. The writer points into the trainer.
  void save(file::CheckpointWriter& writer, file::TrainingState& state) const;
  void load(const file::Checkpoint& checkpoint);

 private:
  /// What the batches of an update leave beside their gradients, if it is made.
  struct Outcome {
    data::RecurrentCarry carried;
    model::BaselineChange baseline;
  };

  const std::vector<data::Indices>& batches();
  std::vector<data::Indices> next_batches();
  /// The gradients of the next update, and its report so far.
  StepReport collect(Outcome& outcome);
  void apply(const StepReport& report, Outcome outcome);
  void skip(const StepReport& report);

  std::unique_ptr<objective::Objective> objective_;
  Parameters* parameters_;
  const data::Dataset* examples_;
  TrainerOptions options_;
  optimise::Adam adam_;
  std::unique_ptr<optimise::GradientSum> sum_;
  std::optional<optimise::MovingAverage> average_;
  Tape tape_;
  std::vector<data::Indices> order_;  // of the current epoch
  int64_t order_epoch_ = -1;
  int64_t step_ = 0, epoch_ = 0, batch_ = 0;
  int64_t skipped_ = 0;           // in a row
  data::RecurrentCarry carried_;  // from update to update; stays empty unless the model carries a state
};

}  // namespace heed::train
