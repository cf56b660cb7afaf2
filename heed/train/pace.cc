#include "heed/train/pace.h"

#include <chrono>

#include "heed/checkpoint/start_from.h"
#include "heed/train/objective/all.h"
#include "heed/train/trainer.h"

namespace heed::train {

recipe::Pace measured_pace(const recipe::Recipe& recipe, const TrainingSetup& prepared, const StartFrom& beginning) {
  using Clock = std::chrono::steady_clock;
  constexpr int64_t kFewest = 2, kMost = 10;
  constexpr double kShare = 0.05;         // of the limit, at most, beyond the fewest
  constexpr double kForward = 1.0 / 3.0;  // of the time of an update: a validation has no backward pass
  const double limit = 60 * recipe.stop.minutes;
  // A copy of the model, which is trained a little and thrown away.
  trained::TrainedModel made =
      trained::make_model(prepared.model.description, prepared.model.vocabularies, recipe.train.seed);
  if (beginning.weights && beginning.weights->description.model.task == recipe.model.task)
    trained::start_from(*beginning.weights, made);
  TrainerOptions options = recipe.train;
  options.schedule.kind = "constant";  // others need a length
  const objective::ObjectiveInputs setting{.model = *made.model,
                                           .vocabularies = made.vocabularies,
                                           .examples = *prepared.corpus.train,
                                           .options = options.objective,
                                           .label_smoothing = options.label_smoothing,
                                           .batch_tokens = options.batch_tokens,
                                           .updates = 0,
                                           .longest = recipe.validate.longest,
                                           .reward = beginning.reward};
  Trainer trainer(objective::find(options.objective.name).make(setting), *made.parameters, *prepared.corpus.train,
                  options);
  trainer.step();  // the first one also gets its memory
  const Clock::time_point begin = Clock::now();
  double seconds = 0;
  int64_t updates = 0;
  while (updates < kFewest || (updates < kMost && seconds < kShare * limit)) {
    trainer.step();
    ++updates;
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  const double update = seconds / static_cast<double>(updates);
  const auto batches = prepared.corpus.valid->batches({.max_tokens = options.batch_tokens, .shuffle = false}, 0).size();
  return recipe::pace_within(limit, update, kForward * update * static_cast<double>(batches));
}

}  // namespace heed::train
