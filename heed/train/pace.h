// How many updates a limit of time leaves time for.
#pragma once

#include "heed/train/recipe/settle.h"
#include "heed/train/training_setup.h"

namespace heed::train {

/// Times a few updates of a model that is thrown away, so that the training itself begins as if nothing had been.
/// `prepared` has vocabularies and data.
recipe::Pace measured_pace(const recipe::Recipe& recipe, const TrainingSetup& prepared, const StartFrom& beginning);

}  // namespace heed::train
