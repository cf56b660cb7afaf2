// Updates, one after the other. What an update does follows from the options, the data and its number alone, so that a
// training that was stopped goes on as if nothing had happened, bit by bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/data/batches.h"
#include "heed/data/examples.h"
#include "heed/data/packed_batch.h"
#include "heed/file/checkpoint.h"
#include "heed/model/seq2seq.h"
#include "heed/train/adam.h"
#include "heed/train/moving_average.h"
#include "heed/train/schedule.h"

namespace heed::train {

struct TrainerOptions {
  uint64_t seed = 1;            // of the order of the batches and of dropout
  int64_t batch_tokens = 4096;  // of a batch, on each side
  int64_t accumulate = 1;       // batches whose gradients make one update
  ScheduleOptions schedule;
  AdamOptions adam = {.beta2 = 0.98f, .epsilon = 1e-9f};
  float clip = 1.0f;  // largest norm of all gradients together; 0: no limit
  float label_smoothing = 0.1f;
  float average = 0.0f;  // decay of the moving average of the weights that is evaluated and saved; 0: none
};

/// What one update did.
struct StepReport {
  int64_t step = 0;     // from 1
  int64_t epoch = 0;    // from 1
  double loss = 0;      // per target token, with label smoothing
  double nll = 0;       // per target token, without
  double accuracy = 0;  // of the target tokens, under teacher forcing
  double norm = 0;      // of the gradients, before clipping
  float rate = 0;
  int64_t tokens = 0;   // target tokens
  std::string skipped;  // why the update was left out: what was not finite; empty: it was done
};

/// Of the first epoch; others may have one more or less.
int64_t updates_per_epoch(const Examples& examples, const TrainerOptions& options);

class Trainer {
 public:
  static constexpr int64_t kMostSkipped = 10;               // updates left out in a row before a training gives up
  static constexpr int64_t kMostSteps = 1'000'000'000'000;  // longer than any training: a state that says more is none

  Trainer(const model::Seq2Seq& model, Parameters& parameters, const Examples& examples, const TrainerOptions& options);

  /// One update. Throws Error after kMostSkipped in a row whose loss or gradients were not finite.
  StepReport step();

  int64_t steps() const { return step_; }
  int64_t epoch() const { return epoch_; }  // finished ones
  const Tape& tape() const { return tape_; }

  /// The weights that are evaluated and saved: the moving average while one of these lives, where there is one.
  class Averaged {
   public:
    explicit Averaged(Trainer& trainer);
    ~Averaged();
    Averaged(const Averaged&) = delete;
    Averaged& operator=(const Averaged&) = delete;

   private:
    MovingAverage* average_;
  };

  /// Everything that step() depends on, apart from the options and the data. What is added points into the trainer.
  void save(file::CheckpointWriter& writer, file::TrainingState& state) const;
  void load(const file::Checkpoint& checkpoint);

 private:
  const std::vector<Batch>& batches();
  void next_batch();

  const model::Seq2Seq* model_;
  Parameters* parameters_;
  const Examples* examples_;
  TrainerOptions options_;
  Lengths lengths_;
  Adam adam_;
  std::optional<MovingAverage> average_;
  Tape tape_;
  std::vector<Batch> order_;  // of the epoch at hand
  int64_t order_epoch_ = -1;
  int64_t step_ = 0, epoch_ = 0, batch_ = 0;
  int64_t skipped_ = 0;  // in a row
};

}  // namespace heed::train
