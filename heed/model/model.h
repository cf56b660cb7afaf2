// What all models have in common: a loss for training. generator.h and parallel_generator.h have what a search needs.
#pragma once

#include <cstdint>
#include <functional>

#include "heed/attend/reinforce.h"
#include "heed/data/batch.h"
#include "heed/tensor/op/output_loss.h"

namespace heed::model {

class Generator;          // generator.h
class ParallelGenerator;  // parallel_generator.h

/// How a moving average of rewards, which a model keeps with its parameters, moves on. A loss changes nothing: all
/// batches of an update see the same average, and whoever trains moves it once, by their rewards together.
struct BaselineChange {
  Parameter* baseline = nullptr;  // [2]: the average, and 1 once there was a reward. Null: nothing moves
  attend::RewardSum rewards = {};
  float decay = 0.0f;
};
/// That of the next batch of the same update, too.
void add_change(BaselineChange& sum, const BaselineChange& next);
void apply_change(const BaselineChange& change);

/// Of a batch, and what training has to know beside it.
struct Loss : OutputLoss {
  Loss(const OutputLoss& loss) : OutputLoss(loss) {}  // NOLINT: most models have nothing else to say

  data::RecurrentCarry carried = {};  // where Batch::carried is given: what the pieces leave for the next ones
  BaselineChange baseline = {};       // while training
};

/// Its parameters are in the Parameters it was made with. Any number of threads may use it at once, each with its own
/// tape, as long as nothing changes the parameters.
class Model {
 public:
  virtual ~Model() = default;

  /// Loss of a batch of the task's data: a row per prediction, with the number of correct ones. Throws if the batch
  /// lacks what the model reads.
  virtual Loss loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const = 0;

  /// Of a model that writes step by step: logits [some rows, vocabulary] of the token after each token that the batch's
  /// targets read, from row `first` on, some rows at a time; they live during the call. The tape must not record.
  virtual void teacher_forced_logits(Tape& tape, const data::Batch& batch,
                                     const std::function<void(int64_t first, Tensor logits)>& visit) const;

  /// For models that generate, step by step or all positions at once; null for others.
  virtual const Generator* generator() const { return nullptr; }
  virtual const ParallelGenerator* parallel_generator() const { return nullptr; }

  /// The most tokens of a sequence (including a target's END), if the model has a fixed number of positions; otherwise
  /// more than any text has.
  virtual int64_t max_positions() const = 0;
  /// The most predictions of an example, such as the tokens of a target and its END.
  virtual int64_t max_predictions() const { return max_positions(); }
};

}  // namespace heed::model
