// How many updates a limit of time leaves time for.
#pragma once

#include "heed/recipe/settle.h"
#include "heed/train/preparation.h"

namespace heed::train {

/// Times a few updates of a model that is thrown away, so that the training itself begins as if nothing had been.
/// `prepared` has vocabularies and data.
recipe::Pace measured_pace(const recipe::Recipe& recipe, const Prepared& prepared, const Beginning& beginning);

}  // namespace heed::train
